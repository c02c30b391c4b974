#pragma once

#include "backend/cpu/build/vector_prefetch.h"

namespace llvm {
class LoopInfo;
}

namespace cupola::cpu::build {

class Evolution;

/// In loops in which a block's threads meet and that go through memory in large steps, plane after plane, has what
/// comes next brought into the second cache, so many turns ahead: a warp computes too much in a turn for processors to
/// look so far. Returns the calls that do so.
Fetches fetch_next_turns(Evolution& evolution, const llvm::LoopInfo& loops, uint32_t turns);

}  // namespace cupola::cpu::build
