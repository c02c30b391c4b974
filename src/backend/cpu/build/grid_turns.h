#pragma once

#include <cstdint>

#include "base/kernel_info.h"
#include "kir/call_reach.h"

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Has the warps of a block, and blocks beside it, take turns in loops over the grid (`for (int i = blockIdx.x *
/// blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)`) by meeting after some turns, a power of two that
/// together read `rows` rows of memory at most, where the kernel's threads meet once more afterwards, and all blocks of
/// a row of the grid go the same ways to where they meet: what a turn leaves to the next needs no coroutine's frame
/// then, and as long as all threads of the grid have these turns, none is asked whether it has. What is left is done by
/// the loop as it was. All of a kernel's loops that go far, or none: others need marks of turns (vector_turns.h). After
/// separate_exits; for blocks of that shape. Whether it did.
bool meet_in_grid_turns(llvm::Function& function, const kir::CallReach& reach, const Dim3& shape, uint32_t rows);

}  // namespace cupola::cpu::build
