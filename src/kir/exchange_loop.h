#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace cupola::kir {

/// What a loop around a compare-and-swap exchanges. The word is read once in front of it, and after that comes from the
/// exchanges that failed.
struct ExchangedWord {
  llvm::Value* pointer;
  llvm::IntegerType* type;
  llvm::Align alignment;
  llvm::AtomicOrdering ordering;  ///< of the exchange that succeeds
  llvm::SyncScope::ID scope;
  bool is_volatile;
};

/// Computes from the word that was seen.
using OfSeen = llvm::function_ref<llvm::Value*(llvm::IRBuilderBase& builder, llvm::Value* seen)>;

/// Puts a loop in front of `at`: it exchanges the word for `next` of it, until that succeeds, or until `gives_up` (an
/// i1) says so. Both may make blocks; what `gives_up` makes stands in every round.
struct ExchangeLoop {
  ExchangeLoop(llvm::Instruction& at, const ExchangedWord& word, OfSeen next, OfSeen gives_up = nullptr);

  llvm::Value* seen;               ///< the word that was there last
  llvm::Value* gave_up = nullptr;  ///< null without `gives_up`
};

/// Such a loop in the place of an update: `next` computes in the update's type, whatever that is, and the exchange is
/// one of its bits.
void expand_by_exchange(llvm::AtomicRMWInst& update, OfSeen next);

}  // namespace cupola::kir
