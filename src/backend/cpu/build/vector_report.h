#pragma once

#include <string>

#include "backend/cpu/build/vector_access.h"
#include "image/block_class.h"

namespace llvm {
class Function;
class LoopInfo;
}  // namespace llvm

namespace cupola::cpu::build {

class Groups;
class Shapes;

/// What a report says of lanes whose places are gathered or scattered.
inline constexpr char kOneByOne[] = "one by one";

/// How a warp of such blocks reads and writes memory, for people: a line for each source line and way, those without a
/// line first. `function`: what was widened, and `accesses` what became of it.
std::string report_accesses(const llvm::Function& function, image::BlockClass blocks, const Shapes& shapes,
                            const Groups& groups, const llvm::LoopInfo& loops, const Accesses& accesses);

}  // namespace cupola::cpu::build
