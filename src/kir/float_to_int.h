#pragma once

#include <llvm/IR/IRBuilder.h>

namespace cupola::kir {

/// Converts as PTX's cvt.rzi does: towards zero, saturating; NaN gives 0, but 1 << (width - 1) when the source is f64
/// or the result has 64 bits or more. Compares and selects around a plain conversion, which vectorises. `value` may be
/// a vector. A result below 32 bits is converted to 32 and truncated, as CUDA's own compiler does (295.0f to unsigned
/// char is 39, measured on an H200).
llvm::Value* float_to_int(llvm::IRBuilderBase& b, llvm::Value* value, llvm::Type* result, bool is_signed);

}  // namespace cupola::kir
