#pragma once

#include <string>

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
/// line first. `function`: a kernel in the form of prepare_for_lanes.
std::string report_accesses(llvm::Function& function, image::BlockClass blocks, const Shapes& shapes,
                            const Groups& groups, const llvm::LoopInfo& loops);

}  // namespace cupola::cpu::build
