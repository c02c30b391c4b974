#include "backend/cpu/build/turn_vectors.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include "kir/combine.h"
#include "kir/pass_analyses.h"

namespace cupola::cpu::build {

void take_turns_in_vectors(llvm::Function& alone, const llvm::TargetMachine& machine) {
  llvm::TargetLibraryInfoImpl no_library(machine.getTargetTriple());
  no_library.disableAllFunctions();
  kir::PassAnalyses analyses(&machine, std::move(no_library));
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
  passes.addPass(llvm::LoopVectorizePass());
  kir::add_combine(passes);
  passes.addPass(llvm::SimplifyCFGPass());
  passes.run(alone, analyses.functions);
}

}  // namespace cupola::cpu::build
