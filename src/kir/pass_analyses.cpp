#include "kir/pass_analyses.h"

#include <llvm/Passes/PassBuilder.h>

#include <utility>

namespace cupola::kir {

PassAnalyses::PassAnalyses(const llvm::TargetMachine* machine, std::optional<llvm::TargetLibraryInfoImpl> library) {
  if (library)  // of two analyses of a kind the first is kept
    functions.registerPass([&] { return llvm::TargetLibraryAnalysis(std::move(*library)); });
  llvm::PassBuilder builder(const_cast<llvm::TargetMachine*>(machine));  // which it only asks
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

}  // namespace cupola::kir
