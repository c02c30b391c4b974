#pragma once

#include "ptx/lower/emission.h"

namespace cupola::ptx {

// What the modifiers of floating-point instructions do to values. All take vectors as well.

/// `.ftz`: a denormal as the zero of its sign. f16, bf16, f32 or f64.
Value* flush(Emission& e, Value* value);
/// `.sat`: between 0 and 1; NaN and -0 give +0.
Value* saturate(Emission& e, Value* value);
/// The NaN that NVIDIA's devices make in place of any NaN: 0x7fff, 0x7fffffff, 0xfff8000000000000.
Value* canonical_nan(Emission& e, Value* value);
/// `.relu`: negative numbers and -0 give +0; a NaN becomes the canonical one.
Value* relu(Emission& e, Value* value);
/// `.satfinite`: an infinity gives the greatest finite number of its sign.
Value* satfinite(Emission& e, Value* value);

/// All arithmetic of f32 in the module says `.ftz`: then its functions say so (denormal-fp-math-f32), once each.
bool flushes_as_a_whole(const Module& module);
/// Operand i, flushed if the instruction says `.ftz`.
Value* read_operand(Emission& e, size_t i);
/// Writes the destination after `.ftz`, `.relu` and `.sat`.
void write_result(Emission& e, Value* value);
/// Likewise for a result that rounding may bring from below the least normal number up to it, which `.ftz` flushes
/// nevertheless (measured on an H200; "tininess after rounding" of IEEE 754). `compute` makes the result for a first
/// operand, which is multiplied by a power of two for a second look.
void write_result(Emission& e, Value* first, llvm::function_ref<Value*(Value*)> compute);

/// "rz", "rm" or "rp"; empty to nearest, which is also what no modifier means.
llvm::StringRef directed_rounding(Emission& e);
/// llvm.nvvm.<operation>.<rounding><suffix>, e.g. add, rz, .f; `suffix` with its dot.
Value* rounded_call(Emission& e, llvm::StringRef operation, llvm::ArrayRef<Value*> arguments, llvm::StringRef suffix);

/// f32 or f64 as f16 or bf16, or f64 as f32, rounded once as the instruction says; NaN becomes the canonical one.
Value* narrow(Emission& e, Value* value, llvm::Type* to);

/// The magnitude; of a NaN as well.
Value* absolute(Emission& e, Value* value);

/// The integer type with the bits of each number of a floating-point type.
llvm::Type* bits_type(llvm::Type* type);

}  // namespace cupola::ptx
