#pragma once

#include "base/kernel_info.h"
#include "kir/call_reach.h"

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Has the warps of a block, in a kernel whose threads wait for each other at the block's barrier alone and come to it
/// together, read rows of memory that lie behind each other one after the other, by meeting in between, where they meet
/// once more afterwards: the block goes through its part of memory from the beginning to the end then, as processors
/// expect it, where warp after warp would read 128 bytes of each kilobyte. Of loads that are the block's width apart,
/// and of a loop whose turns are (`for (int i = threadIdx.x; i < n; i += blockDim.x)`) if there is one such loop: what
/// is gone through again is brought into the cache while the block before is run (vector_next_block.h). The loop is
/// kept as it was beside that, for a counter that wraps. Of all loops of that kind that update shared memory and keep
/// nothing but the counter, the turns that all threads have are written before the loop (common_turns.h). After
/// separate_exits; for blocks of that shape. Whether it did something.
bool meet_between_rows(llvm::Function& function, const kir::CallReach& reach, const Dim3& shape);

}  // namespace cupola::cpu::build
