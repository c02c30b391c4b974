#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "image/block_class.h"

namespace llvm {
class Function;
}

// Loops in which each thread walks memory of its own, of kernels whose threads meet elsewhere (so that a thread after
// the other is not for all of the kernel): a row of a table of counts for each, summed up and replaced by what is
// before. In step each access there is a gather, of lines that lie so far apart that the first cache often does not
// have them any more in the next turn.

namespace cupola::cpu::build {

/// Such loops, while a kernel is written for warps: functions, which are done lane by lane as all calls are.
class LoneLoops {
 public:
  LoneLoops() = default;
  /// After all code that calls them is gone.
  ~LoneLoops();
  LoneLoops(const LoneLoops&) = delete;
  LoneLoops& operator=(const LoneLoops&) = delete;

  /// Takes them out of a prepared kernel; none of one that code for warps cannot be written for (vector_prepare.h).
  void take_out(llvm::Function& kernel, image::BlockClass blocks);
  /// One more function of which the same is done.
  void add(llvm::Function& function);
  /// Into the code for warps, in place of the calls.
  void put_back(llvm::Function& code) const;

  llvm::ArrayRef<llvm::Function*> functions() const { return functions_; }

 private:
  llvm::SmallVector<llvm::Function*, 2> functions_;
};

}  // namespace cupola::cpu::build
