#pragma once

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/PassManager.h>

#include <optional>

namespace llvm {
class TargetMachine;
}

namespace cupola::kir {

/// LLVM's analyses of modules, call graphs, functions and loops, which know each other: what passes ask while they run.
/// For one thread.
class PassAnalyses {
 public:
  /// `machine`: whose costs passes go by; null: nobody's. `library`: the C functions that calls may be taken for; those
  /// of the module's triple if it is not given.
  explicit PassAnalyses(const llvm::TargetMachine* machine = nullptr,
                        std::optional<llvm::TargetLibraryInfoImpl> library = std::nullopt);
  PassAnalyses(const PassAnalyses&) = delete;
  PassAnalyses& operator=(const PassAnalyses&) = delete;

  // Results of the later ones clear the earlier ones when they are destroyed.
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

}  // namespace cupola::kir
