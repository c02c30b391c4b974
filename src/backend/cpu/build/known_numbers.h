#pragma once

#include <llvm/IR/PassManager.h>

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// As llvm::GVNPass, but a number that all lanes take of memory (a splat) is read there though it was stored as a part
/// of a row: processors make such a row as they read the number, and of a part of another row by two instructions.
struct TakeKnownNumbers : llvm::PassInfoMixin<TakeKnownNumbers> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace cupola::cpu::build
