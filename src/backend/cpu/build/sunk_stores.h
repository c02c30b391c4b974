#pragma once

#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class Loop;
class LPMUpdater;
}  // namespace llvm

namespace cupola::cpu::build {

/// A place of the frame that a loop stores to and does not read is stored to behind the loop, once: what threads keep
/// from one barrier to the next, in code whose loops over warps are written out, so that it stays in registers from
/// turn to turn. A loop that may store nothing reads the place first, so that the loops around it keep that store. As
/// the last step of llvm::LICMPass, which leaves loops with more than 250 accesses alone.
struct SinkStores : llvm::PassInfoMixin<SinkStores> {
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses,
                              llvm::LoopStandardAnalysisResults& known, llvm::LPMUpdater& updater);
};

}  // namespace cupola::cpu::build
