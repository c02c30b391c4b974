#pragma once

#include <llvm/ADT/SmallPtrSet.h>

namespace llvm {
class BasicBlock;
class CallInst;
class Function;
class Instruction;
class LoopInfo;
}  // namespace llvm

namespace cupola::cpu::build {

class Companions;
class Shapes;

/// Where lanes have met others for the last time. CUDA waits for no thread that has exited, so a lane that is on its
/// way to the return, with no meeting ahead, need not come to an operation that names it. The function and the analyses
/// outlive this.
class Departures {
 public:
  Departures(llvm::Function& function, const Shapes& shapes, const llvm::LoopInfo& loops, const Companions& companions);

  /// True where threads that begin the block come to no meeting any more.
  bool are_final(const llvm::BasicBlock* block) const { return !meets_.contains(block); }
  /// Lanes that take this edge part from those that may meet again.
  bool is_departure(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const {
    return !are_final(from) && are_final(to);
  }
  /// Whether a warp operation may name lanes that are elsewhere and may meet others there.
  bool may_miss_members(const llvm::CallInst& operation) const;

 private:
  bool has_own_members(const llvm::Instruction& operation) const;
  bool others_may_meet(const llvm::BasicBlock* block) const;

  const Shapes& shapes_;
  const llvm::LoopInfo& loops_;
  const Companions& companions_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> meets_;  ///< blocks from whose begin a meeting can be reached
};

}  // namespace cupola::cpu::build
