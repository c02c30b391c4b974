#pragma once

#include <llvm/IR/PassManager.h>

namespace cupola::kir {

/// Unrolls the loops of known few turns by whose counters alone local arrays are indexed, so that the arrays become
/// registers, and promotes them; also those that `#pragma unroll` asks for, but for loops in which a block's threads
/// meet. Leaves alone what would grow the function too much.
struct UnrollLoops : llvm::PassInfoMixin<UnrollLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace cupola::kir
