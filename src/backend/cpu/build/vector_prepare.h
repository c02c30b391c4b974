#pragma once

#include <string>

#include "base/result.h"
#include "kir/call_reach.h"

namespace llvm {
class Function;
class LoopInfo;
class PostDominatorTree;
}  // namespace llvm

namespace cupola::cpu::build {

/// Brings what a copy of a kernel calls into it, but for large functions that can be called for one lane after the
/// other. Error: NotSupported, saying why it cannot be.
Result<> inline_calls(llvm::Function& function, const kir::CallReach& reach);

/// Brings such a copy into the form that the vector rung reads: scalars only, one return with nothing before it, loops
/// with one latch, branches of two ways.
void prepare_for_lanes(llvm::Function& function);

/// What in the prepared kernel the vector rung does not do; empty: nothing. Whether threads may wait for each other
/// where they do is another question, see vector_convergence.h.
std::string obstacle(llvm::Function& function, const llvm::LoopInfo& loops, const llvm::PostDominatorTree& post);

}  // namespace cupola::cpu::build
