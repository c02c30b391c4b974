#pragma once

#include <llvm/ADT/SmallVector.h>

#include <cstdint>

namespace llvm {
class AllocaInst;
class BasicBlock;
class Function;
class Module;
}  // namespace llvm

namespace cupola::metal::build {

/// Metal has no barrier of a grid, and does not promise that its blocks run at the same time: a grid is launched anew
/// behind each (image/metal_abi.h, SavedHeader). In a launch that is not cooperative such a barrier is the end of the
/// thread, with Fault::Grid.
void check_grid_barriers(llvm::Module& module);

/// What a thread keeps from launch to launch: the variables of a kernel, once each value that is used in another basic
/// block than its own lies in one.
class SavedFrame {
 public:
  /// `passing`: variables that need not be kept.
  SavedFrame(llvm::Function& kernel, llvm::ArrayRef<llvm::AllocaInst*> passing);

  uint32_t bytes() const { return bytes_; }

  /// Instructions at a block's end.
  void keep(llvm::BasicBlock& at) const;
  void take(llvm::BasicBlock& at) const;

 private:
  struct Place {
    llvm::AllocaInst* variable;
    uint64_t offset, bytes;
  };
  llvm::SmallVector<Place, 32> places_;
  uint32_t bytes_ = 0;
};

}  // namespace cupola::metal::build
