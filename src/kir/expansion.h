#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "kir/intrinsics.h"

namespace cupola::kir {

/// A call of an NVVM intrinsic that is being replaced; instructions go in front of it. For llvm.nvvm.add.rn.ftz.f the
/// words are add, rn, ftz, f; type suffixes of overloaded intrinsics are not words.
struct Expansion {
  llvm::IRBuilder<>& b;
  llvm::CallInst& call;
  llvm::ArrayRef<llvm::StringRef> words;

  bool has(llvm::StringRef word) const { return llvm::is_contained(words, word); }
  llvm::Value* arg(unsigned i) const { return call.getArgOperand(i); }
  llvm::Type* type() const { return call.getType(); }
  llvm::CallInst* intrinsic(Intrinsic which, llvm::ArrayRef<llvm::Value*> arguments) const {
    llvm::Function* callee = declare(*call.getModule(), which);
    llvm::CallInst* made = b.CreateCall(callee, arguments);
    if (callee->isConvergent()) made->setConvergent();
    return made;
  }
};

/// The call's value (null for a void call), or nothing for a variant that is not supported.
using Expanded = std::optional<llvm::Value*>;

/// All intrinsics whose first word is `word`.
struct ExpansionRow {
  const char* word;
  Expanded (*expand)(const Expansion&);
};

llvm::ArrayRef<ExpansionRow> register_expansions();  ///< special registers
llvm::ArrayRef<ExpansionRow> warp_expansions();      ///< barriers, shuffles, votes
llvm::ArrayRef<ExpansionRow> math_expansions();      ///< floating point
llvm::ArrayRef<ExpansionRow> bit_expansions();       ///< integers and bits
llvm::ArrayRef<ExpansionRow> memory_expansions();    ///< atomics, loads, fences, address spaces

/// A denormal f32 (or vector of them) as a zero of its sign; other types unchanged.
llvm::Value* flush(llvm::IRBuilderBase& b, llvm::Value* value);

}  // namespace cupola::kir
