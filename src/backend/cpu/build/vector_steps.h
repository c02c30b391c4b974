#pragma once

#include <llvm/ADT/SmallVector.h>

namespace llvm {
class Loop;
class SCEV;
class ScalarEvolution;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// By how much values of a thread's code move, unless they wrap: from turn to turn of a loop, or from a block to the
/// next one in x, of the same thread of it and in the same turns of loops.
class Steps {
 public:
  /// From turn to turn.
  Steps(llvm::ScalarEvolution& evolution, const llvm::Loop& loop) : evolution_(evolution), loop_(&loop) {}
  /// From block to block.
  explicit Steps(llvm::ScalarEvolution& evolution) : evolution_(evolution) {}

  /// Null: it is not known to move evenly.
  const llvm::SCEV* of(const llvm::SCEV* value) const;

 private:
  bool is_fixed(const llvm::SCEV* value) const;
  const llvm::SCEV* zero(const llvm::SCEV* value) const;
  const llvm::SCEV* of_what_moves(const llvm::SCEV* value) const;

  llvm::ScalarEvolution& evolution_;
  const llvm::Loop* loop_ = nullptr;  ///< null: from block to block
};

}  // namespace cupola::cpu::build
