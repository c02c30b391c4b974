#pragma once

#include <llvm/ADT/ArrayRef.h>

namespace llvm {
class BranchInst;
class Function;
}  // namespace llvm

namespace cupola::cpu::build {

/// Updates of one place by all blocks, whose results nobody asks for (`if (threadIdx.x == 0) atomicAdd(total, sum)`):
/// a call that runs many blocks makes one of its own, of what they add (or what else the operation makes of it)
/// together, when they are over. Each by itself is a step that cores wait for each other in. Nothing is gathered where
/// the kernel tells other blocks of what it did (fences, other atomics, volatile accesses), or where a thread may look
/// at the place afterwards. `code`: a loop over blocks; `turns`: the branches that end a turn of its loops over blocks,
/// warps and threads. Sums of float round in another order than if blocks added one after the other, as atomics may.
void gather_updates(llvm::Function& code, llvm::ArrayRef<llvm::BranchInst*> turns);

}  // namespace cupola::cpu::build
