#pragma once

#include <llvm/ADT/SmallVector.h>

#include <cstddef>

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// A warp's code that is given its place in the block and the block's in the grid, which it read in its context.
struct PlacedCode {
  llvm::Function* code = nullptr;
  llvm::SmallVector<size_t, 8> fields;  ///< of ThreadContext: what its last arguments are, in order
};

/// A copy of a warp's code that takes what it reads of threadIdx, blockIdx and its lanes as further arguments, so that
/// a loop over warps and blocks can hand it on in registers. `with_window`: the block's shared memory too.
PlacedCode give_places_as_arguments(llvm::Function& warp, bool with_window);

}  // namespace cupola::cpu::build
