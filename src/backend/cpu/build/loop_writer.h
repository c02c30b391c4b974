#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>

#include <array>
#include <cstdint>

namespace llvm {
class BasicBlock;
class BranchInst;
class Function;
class IRBuilderBase;
class PHINode;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// Writes loops that are left at their end, with counters of 32 bits, where `builder` stands in `function`.
class LoopWriter {
 public:
  LoopWriter(llvm::IRBuilderBase& builder, llvm::Function& function) : builder_(builder), function_(function) {}

  llvm::BasicBlock* make_block(const char* name);

  /// A loop that is being written.
  struct Turns {
    llvm::BasicBlock *before, *begin;
  };
  Turns begin_turns(const char* name);
  /// The builder goes on in `over`, or a new block.
  void end_turns(const Turns& turns, llvm::Value* goes_on, llvm::BasicBlock* over = nullptr);

  /// What has `first` in the first turn; who begins the loop adds what it has in others.
  llvm::PHINode* counter(const Turns& turns, const char* name, llvm::Value* first);

  /// Where something stands in three dimensions, x first.
  using Position = std::array<llvm::PHINode*, 3>;
  Position counters(const Turns& turns, const char* name, llvm::ArrayRef<llvm::Value*> first);
  /// `position` goes on by `step` in x, and to the next row or plane where it reaches the size.
  void advance(const Position& position, llvm::Value* step, llvm::ArrayRef<llvm::Value*> size);

  /// From 0 to `end`, which is above it, by `step`, or until `body` returns false. Returns how far it came.
  llvm::Value* count_while(llvm::Value* end, uint32_t step, llvm::function_ref<llvm::Value*(llvm::Value*)> body);
  /// All of them; no loop for one turn.
  void count(llvm::Value* end, uint32_t step, llvm::function_ref<void(llvm::Value*)> body);

  /// Whether that is known of a loop from 0 to `end`: LLVM keeps one until it has moved out of it what does not change.
  static bool is_one_turn(const llvm::Value* end, uint32_t step);

  /// The branches at the ends of all that were written.
  llvm::ArrayRef<llvm::BranchInst*> ends_of_turns() const { return ends_of_turns_; }

 private:
  llvm::IRBuilderBase& builder_;
  llvm::Function& function_;
  llvm::SmallVector<llvm::BranchInst*, 8> ends_of_turns_;
};

}  // namespace cupola::cpu::build
