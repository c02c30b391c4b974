#pragma once

#include "backend/cpu/build/vector_prefetch.h"

namespace llvm {
class DominatorTree;
class Function;
class LoopInfo;
}  // namespace llvm

namespace cupola::cpu::build {

/// In loops in which the block meets in each turn, has what the next turn reads brought into the cache, if that lies
/// elsewhere. A block that goes through memory in steps of a pitch (tiles of a matrix, planes of a volume) touches a
/// few lines of each page, too few for the processor to see where it goes; until the next turn all other warps run.
/// Returns the calls that do so.
Fetches fetch_for_next_turn(llvm::Function& function, llvm::LoopInfo& loops, llvm::DominatorTree& dominators);

}  // namespace cupola::cpu::build
