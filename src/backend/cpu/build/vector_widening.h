#pragma once

#include "backend/cpu/build/vector_access.h"
#include "backend/cpu/build/vector_exits.h"

namespace llvm {
class LoopInfo;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

class Departures;
class Groups;
class Shapes;

/// Fills `to`, an empty function of the same parameters, with code that does for a warp what `from` does for each of
/// its 32 threads. Nothing that obstacle() or convergence_obstacle() names may be in `from`. Returns what became of its
/// accesses to memory.
Accesses widen(llvm::Function& from, llvm::Function& to, const image::BlocksOfCode& blocks, const Shapes& shapes,
               const Groups& groups, const Departures& departures, const llvm::LoopInfo& loops, const Exits& exits,
               const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
