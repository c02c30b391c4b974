#pragma once

#include <llvm/IR/InstrTypes.h>

#include <cstdint>
#include <optional>

namespace llvm {
class Loop;
class PHINode;
class PostDominatorTree;
class SCEVAddRecExpr;
class ScalarEvolution;
}  // namespace llvm

namespace cupola::cpu::build {

class KernelBarriers;

/// From lane to lane, in bytes: more than that is no row.
inline constexpr uint64_t kMostStride = 16;

/// A loop that goes on as long as its counter is before its end, as its header asks.
struct CountedLoop {
  llvm::CmpInst::Predicate goes_on;   ///< of the counter and the end: slt, sle, ult or ule
  llvm::PHINode* counter;             ///< an integer
  const llvm::SCEVAddRecExpr* turns;  ///< the counter's, affine
  llvm::Value* end;                   ///< the same in all turns
};

/// What is known of a loop in whose turns a block's threads may meet once more: all go through it once, and meet behind
/// it. Nothing: it is another one.
std::optional<CountedLoop> counted_loop(const llvm::Loop& loop, llvm::ScalarEvolution& evolution,
                                        const llvm::PostDominatorTree& post_dominators, const KernelBarriers& barriers);

}  // namespace cupola::cpu::build
