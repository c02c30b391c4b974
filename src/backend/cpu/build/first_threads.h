#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

namespace llvm {
class Value;
}  // namespace llvm

// Where only the first threads of a block do something: `if (threadIdx.x < width)` in a tree of sums,
// `if (threadIdx.x == 0)` behind it. The warps after them need not be gone through.

namespace cupola::cpu::build {

struct BlockRegion;

/// How many threads of a row, from its first on, may do something in the region: those after them do nothing there.
/// Known where the region ends, the same for all warps. Null: it cannot be told.
/// `first`: threadIdx.x of a warp's first thread; null: the code does not ask for it.
/// `is_uniform`: of a value, whether it is the same for all warps.
llvm::Value* acting_threads(const BlockRegion& region, const llvm::Value* first,
                            llvm::function_ref<bool(llvm::Value*)> is_uniform);

}  // namespace cupola::cpu::build
