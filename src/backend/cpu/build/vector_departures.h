#pragma once

#include <llvm/ADT/SmallPtrSet.h>

#include "backend/cpu/build/vector_companions.h"
#include "backend/cpu/build/vector_exits.h"

namespace llvm {
class CallInst;
class Function;
class Instruction;
}  // namespace llvm

namespace cupola::cpu::build {

class Shapes;

/// Where lanes have met others for the last time. CUDA waits for no thread that has exited, so a lane that is on its
/// way to the return, with no meeting ahead, need not come to an operation that names it. `exits`: where lanes leave
/// whatever the branch says. The function and the analyses outlive this.
class Departures {
 public:
  Departures(llvm::Function& function, const Shapes& shapes, const llvm::LoopInfo& loops, const Companions& companions,
             const Exits& exits);

  const Companions& companions() const { return companions_; }

  /// True where threads that begin the block come to no meeting any more.
  bool are_final(const llvm::BasicBlock* block) const { return !meets_.contains(block); }
  /// Lanes that take this edge part from those that may meet again.
  bool is_departure(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const {
    return !are_final(from) && are_final(to);
  }
  /// Whether a warp operation may wait for lanes that are elsewhere and may meet others there.
  bool may_miss_members(const llvm::CallInst& operation) const { return may_miss_.contains(&operation); }
  /// Whether any warp operation may.
  bool any_may_miss_members() const { return !may_miss_.empty(); }

 private:
  bool has_own_members(const llvm::Instruction& operation) const;
  bool others_may_meet(const llvm::BasicBlock* block, const Exits& exits) const;

  const Shapes& shapes_;
  const llvm::LoopInfo& loops_;
  const Companions companions_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> meets_;  ///< blocks from whose begin a meeting can be reached
  llvm::SmallPtrSet<const llvm::CallInst*, 8> may_miss_;
};

}  // namespace cupola::cpu::build
