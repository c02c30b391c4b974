#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/test_program.h"
#include "backend/cpu/build/vector_prefetch.h"
#include "backend/cpu/build/vector_steps.h"

namespace cupola::cpu::build::testing {

/// What `fetch` has the function @k fetch ahead: it is given the function, how it moves, and its loops.
template <typename Fetch>
Fetches fetches_in(llvm::Module& module, Fetch fetch) {
  llvm::Function& function = *module.getFunction("k");
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  Evolution evolution(function, loops, dominators);
  Fetches fetches = fetch(function, evolution, loops);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  return fetches;
}

}  // namespace cupola::cpu::build::testing
