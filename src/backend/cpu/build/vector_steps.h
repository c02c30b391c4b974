#pragma once

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "kir/intrinsics.h"

namespace cupola::cpu::build {

/// What moves how in a function's loops. It holds as long as code is only added, before loops and beside accesses.
class Evolution {
 public:
  Evolution(llvm::Function& function, llvm::LoopInfo& loops, llvm::DominatorTree& dominators)
      : known_(function.getParent()->getTargetTriple()),
        library_(known_),
        assumptions_(function),
        evolution_(function, library_, assumptions_, dominators, loops) {}
  llvm::ScalarEvolution& operator*() { return evolution_; }

 private:
  const llvm::TargetLibraryInfoImpl known_;
  llvm::TargetLibraryInfo library_;
  llvm::AssumptionCache assumptions_;
  llvm::ScalarEvolution evolution_;
};

/// Whether the register says where a thread is in its block or the block in the grid, or what size they have. The
/// others (the lane, the active mask) follow from that and more.
bool is_place_or_size(kir::Intrinsic known);

/// The register of the thread or the launch (threadIdx.x) that the value is; nothing: it is another.
std::optional<kir::Intrinsic> register_of(const llvm::SCEV* value);

/// What the constant is, if it is above 0 and of 32 bits. `value` may be null.
std::optional<uint64_t> positive_constant(const llvm::SCEV* value);

/// The value with extended sums and products as those of what is extended, by its sign: what it is, unless one of them
/// wraps.
const llvm::SCEV* unless_it_wraps(llvm::ScalarEvolution& evolution, const llvm::SCEV* value);

/// By how much values of a thread's code move, in most turns and unless they wrap: from turn to turn of a loop, or from
/// a thread to that for which one register is one more (the same thread of the next block, the next one of the block),
/// in the same turns of loops.
class Steps {
 public:
  /// From turn to turn.
  Steps(llvm::ScalarEvolution& evolution, const llvm::Loop& loop) : evolution_(evolution), loop_(&loop) {}
  /// From thread to thread.
  Steps(llvm::ScalarEvolution& evolution, kir::Intrinsic moves) : evolution_(evolution), moves_(moves) {}

  /// Null: it is not known to move evenly. No proof: besides wraps, a choice between fixed values counts as fixed, and
  /// so does what a loop before made of them.
  const llvm::SCEV* of(const llvm::SCEV* value) const;

 private:
  bool is_fixed(const llvm::SCEV* value) const;
  bool is_fixed_choice(const llvm::SCEV* value) const;
  const llvm::SCEV* zero(const llvm::SCEV* value) const;
  const llvm::SCEV* of_what_moves(const llvm::SCEV* value) const;

  llvm::ScalarEvolution& evolution_;
  const llvm::Loop* loop_ = nullptr;          ///< null: from thread to thread
  std::optional<kir::Intrinsic> moves_ = {};  ///< the register, then
};

}  // namespace cupola::cpu::build
