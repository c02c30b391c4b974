#pragma once

namespace llvm {
class IRBuilderBase;
class Module;
class Value;
}  // namespace llvm

// Atomic operations on floating-point numbers become loops that compare and exchange integers, where LLVM's own would
// not do as a GPU does.

namespace cupola::kir {

/// Of half and bfloat, and of vectors of them. LLVM's loop holds the old value as a floating-point number: a signalling
/// NaN becomes a quiet one on its way, never equals what memory holds, and the loop never ends. A minimum or maximum
/// with a NaN is the other operand.
void expand_narrow_float_atomics(llvm::Module& module);

/// Sums of float, which flush denormals in global memory and do not in shared memory (PTX ISA, "atom"). Where an
/// address alone does not say which, the loop asks by Intrinsic::IsShared. Sums that are no atomics any more stay as
/// they are.
void expand_float_sums(llvm::Module& module);

/// What such a sum leaves in global memory that held `before`.
llvm::Value* sum_in_global_memory(llvm::IRBuilderBase& builder, llvm::Value* before, llvm::Value* value);

}  // namespace cupola::kir
