#pragma once

#include <llvm/IR/Module.h>

#include <memory>

#include "array/expression.h"

namespace cupola {

/// The name of the kernel that an expression becomes.
inline constexpr char kExpressionKernel[] = "cupola_expression";

/// kir of an expression: a kernel in which each thread computes one place of the outputs. Its parameters are the
/// addresses of the outputs, those of the inputs, the scalars, and the number of places as 64 bits; an operation is a
/// call of the device library's function for it (src/device/operations).
std::unique_ptr<llvm::Module> expression_kernel(llvm::LLVMContext& context, const array::Expression& expression);

}  // namespace cupola
