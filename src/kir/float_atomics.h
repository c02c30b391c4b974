#pragma once

namespace llvm {
class Module;
}

namespace cupola::kir {

/// Makes atomic operations on floating-point numbers loops that compare and exchange integers, where LLVM's own would
/// not do as a GPU does:
/// - on half and bfloat, and on vectors of them. LLVM's loop holds the old value as a floating-point number: a
/// signalling
///   NaN becomes a quiet one on its way, never equals what memory holds, and the loop never ends. A minimum or maximum
///   with a NaN is the other operand.
/// - sums of float, which flush denormals in global memory and do not in shared memory (PTX ISA, "atom").
void expand_float_atomics(llvm::Module& module);

}  // namespace cupola::kir
