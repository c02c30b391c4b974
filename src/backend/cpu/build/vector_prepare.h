#pragma once

#include <string>
#include "kir/call_reach.h"

#include "base/result.h"

namespace llvm {
class Function;
class LoopInfo;
class PostDominatorTree;
}  // namespace llvm

namespace cupola::cpu::build {

/// Brings a copy of a kernel into the form that the vector rung reads: what it calls in it, but for large functions
/// that can be called for one lane after the other; scalars only, one return with nothing before it, loops with one
/// latch, branches of two ways. Error: NotSupported, saying why it cannot be.
Result<> prepare_for_lanes(llvm::Function& function, const kir::CallReach& reach);

/// What in the prepared kernel the vector rung does not do; empty: nothing. Whether threads may wait for each other
/// where they do is another question, see vector_convergence.h.
std::string obstacle(llvm::Function& function, const llvm::LoopInfo& loops, const llvm::PostDominatorTree& post);

}  // namespace cupola::cpu::build
