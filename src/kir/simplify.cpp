#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/ModuleInliner.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/BDCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LowerConstantIntrinsics.h>
#include <llvm/Transforms/Scalar/MemCpyOptimizer.h>
#include <llvm/Transforms/Scalar/Reassociate.h>
#include <llvm/Transforms/Scalar/SCCP.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "kir/combine.h"
#include "kir/pass_analyses.h"
#include "kir/passes.h"
#include "kir/unroll.h"

// Fixed lists. What is absent is absent on purpose: jump threading, tail duplication, vectorisers and unrolling for its
// own sake would undo the structure that the vector rung needs; loop deletion and mustprogress would remove loops that
// wait for others; globals-aware aliasing does not know that other threads write a block's shared variables.

namespace cupola::kir {
namespace {

void run(llvm::Module& module, llvm::ModulePassManager passes) {
  PassAnalyses analyses;
  passes.run(module, analyses.modules);
}

/// Merges no equal values: contract comes after this.
llvm::FunctionPassManager to_registers() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::SimplifyCFGPass(simple_cfg()));
  return passes;
}

llvm::FunctionPassManager general() {
  llvm::FunctionPassManager passes;
  add_combine(passes);
  passes.addPass(llvm::SimplifyCFGPass(simple_cfg()));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SCCPPass());
  passes.addPass(UnrollLoops());
  passes.addPass(llvm::LowerConstantIntrinsicsPass());  // what is not constant or of known size by now will not be
  passes.addPass(llvm::ReassociatePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::GVNPass(llvm::GVNOptions().setPRE(false)));
  passes.addPass(llvm::MemCpyOptPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::BDCEPass());
  add_combine(passes);
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::SimplifyCFGPass(simple_cfg()));
  add_combine(passes);
  return passes;
}

}  // namespace

llvm::SimplifyCFGOptions simple_cfg() {
  return llvm::SimplifyCFGOptions().convertSwitchToLookupTable(false).sinkCommonInsts(false).hoistCommonInsts(false);
}

void remove_unreached(llvm::Module& module) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  run(module, std::move(passes));
}

void simplify_early(llvm::Module& module) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(to_registers()));
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::ModuleInlinerPass(llvm::getInlineParams(225)));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(to_registers()));
  run(module, std::move(passes));
}

void simplify(llvm::Module& module) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(general()));
  passes.addPass(llvm::GlobalDCEPass());
  run(module, std::move(passes));
}

}  // namespace cupola::kir
