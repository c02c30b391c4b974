#pragma once

#include <llvm/IR/PassManager.h>

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Takes rows that are read of one or two rows which were stored before, on all ways there: what threads left beside
/// each other in shared memory and read a few places further on (a scan's steps), in code whose loops over warps are
/// written out. Processors hand on what was stored only where a load asks for nothing else. Rows that are read by a
/// known mask too. GVN does so for one row.
struct TakeStoredRows : llvm::PassInfoMixin<TakeStoredRows> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace cupola::cpu::build
