#pragma once

#include <llvm/IR/PassManager.h>

namespace cupola::cpu::build {

/// Where both ways of a branch compute the address of a store likewise, computes it once before the branch: LLVM sinks
/// stores behind the branch, as one that all lanes do together, only where they are to one and the same address
/// (MergedLoadStoreMotion).
struct AddressesOfBothWays : llvm::PassInfoMixin<AddressesOfBothWays> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

/// Gives what two stores of different lines have become, which has none, the line of the branch.
struct LinesOfBothWays : llvm::PassInfoMixin<LinesOfBothWays> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace cupola::cpu::build
