#pragma once

#include "backend/cpu/build/vector_prefetch.h"

namespace llvm {
class Function;
class LoopInfo;
}  // namespace llvm

// Memory whose reading is seen from far: what blocks read one after the other, and what one reads turn after turn.

namespace cupola::cpu::build {

class Evolution;

/// Has what such blocks read outside of loops brought into the first cache a kilobyte ahead. Processors see such streams
/// by themselves, but later, and how well depends on where their code lies. Returns the calls that do so.
Fetches fetch_ahead_in_streams(llvm::Function& function, Evolution& evolution, const llvm::LoopInfo& loops);

/// In loops in which a block's threads meet and that go through memory in large steps, plane after plane, has what the
/// next turn reads brought into the second cache: a warp computes too much in a turn for processors to look so far
/// ahead. Returns the calls that do so.
Fetches fetch_next_turns(Evolution& evolution, const llvm::LoopInfo& loops);

}  // namespace cupola::cpu::build
