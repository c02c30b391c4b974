#pragma once

#include <llvm/IR/PassManager.h>

namespace llvm {
class Function;
}  // namespace llvm

namespace cupola::cpu::build {

/// Marks loops that go round a known number of times, and all loops in them, to be written out by LoopFullUnrollPass,
/// also where that is more code than it would make by itself: those over the warps of a block, and what a warp does in
/// tiles. What one warp read of shared memory or computed the next one has in registers then. Innermost first, as long
/// as a loop becomes no more than kMostOfLoop instructions and the function no more than kMostOfFunction. An innermost
/// loop becomes no more than kMostOfInnermost: what is longer has long turns, beside which going round costs little.
/// One that keeps as much from turn to turn as there are registers stays a loop, as does one in which all lanes
/// scatter (a radix sort's moves took 0.94 of the time so on Zen 4) or update memory (its counts: 0.79, on Zen 5).
class MarkLoopsToWriteOut : public llvm::PassInfoMixin<MarkLoopsToWriteOut> {
 public:
  static constexpr uint64_t kMostOfLoop = 8'000, kMostOfFunction = 16'000, kMostOfInnermost = 6'000;

  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace cupola::cpu::build
