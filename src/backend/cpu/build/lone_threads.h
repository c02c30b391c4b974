#pragma once

#include "kir/call_reach.h"

namespace llvm {
class Function;
class Loop;
class LoopInfo;
}  // namespace llvm

// Kernels whose threads each walk memory of their own, in loops that they leave at different turns: a row of a sparse
// matrix for each thread. In step every access there is a gather, and lanes that are done wait for the longest; a
// thread after the other reads what lies beside each other.

namespace cupola::cpu::build {

class Shapes;

/// Whether all that a thread does of the prepared kernel may be done before the next one begins: it waits for no other
/// and ends at its return.
bool may_run_alone(llvm::Function& function, const kir::CallReach& reach);

/// Whether a thread after the other takes clearly less time than a warp in step, as far as can be told from the code.
bool is_faster_alone(llvm::Function& function, const Shapes& shapes, const llvm::LoopInfo& loops);

/// The same of one innermost loop, which lanes go through together.
bool is_faster_alone(llvm::Function& function, const llvm::Loop& loop, const Shapes& shapes,
                     const llvm::LoopInfo& loops);

}  // namespace cupola::cpu::build
