#pragma once

namespace llvm {
class CallInst;
class IRBuilderBase;
class Value;
}  // namespace llvm

// Reductions at the barrier of all of a block's threads (`__syncthreads_and`), where one call runs the whole block:
// what its warps say is counted in the context of the block.

namespace cupola::cpu::build {

/// Whether the barrier, which call_service made, asks its threads.
bool is_reduction(const llvm::CallInst& barrier);

/// Before the first barrier of the first block: count_votes leaves none.
void reset_votes(llvm::IRBuilderBase& builder, llvm::Value* context);
/// What the warp says that comes to the barrier.
void add_votes(llvm::IRBuilderBase& builder, llvm::Value* context, const llvm::CallInst& barrier);
/// Once all have come.
void count_votes(llvm::IRBuilderBase& builder, llvm::Value* context);
/// After count_votes: the barrier's result.
llvm::Value* result_of_votes(llvm::IRBuilderBase& builder, llvm::Value* context, const llvm::CallInst& barrier);

}  // namespace cupola::cpu::build
