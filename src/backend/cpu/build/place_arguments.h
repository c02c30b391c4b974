#pragma once

#include <llvm/ADT/SmallVector.h>

#include <cstddef>

namespace llvm {
class Argument;
class Function;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// A warp's code that is given its place in the block, the block's in the grid and its shared memory, which it read in
/// its context.
struct PlacedCode {
  llvm::Function* code = nullptr;
  llvm::SmallVector<size_t, 8> fields;  ///< of ThreadContext: what its last arguments are, in order

  llvm::Argument* place(size_t field) const;
  /// Those of its last arguments that differ between a block's warps.
  llvm::SmallVector<llvm::Value*, 8> places_in_block() const;
  /// And those that differ between blocks beside each other in x.
  llvm::SmallVector<llvm::Value*, 8> places_beside() const;
};

/// A copy of a warp's code that takes what it reads of these as further arguments, so that
/// a loop over warps and blocks can hand it on in registers.
PlacedCode give_places_as_arguments(llvm::Function& warp);

}  // namespace cupola::cpu::build
