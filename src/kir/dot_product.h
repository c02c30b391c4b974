#pragma once

#include <llvm/IR/IRBuilder.h>

namespace cupola::kir {

/// What the rows Dot4 and Dot2 add to their last operand.
struct DotProduct {
  bool of_bytes;  ///< four products of bytes; else two, of the left side's halves and the right side's low bytes
  bool left_signed, right_signed;
};

/// The row's constant.
uint32_t kind_of(const DotProduct& product);
/// What the call of a row computes.
DotProduct dot_product_of(const llvm::CallInst& call);

/// `sum` and the products, in plain instructions; of numbers of 32 bits or vectors of them.
llvm::Value* add_products(llvm::IRBuilderBase& b, const DotProduct& product, llvm::Value* left, llvm::Value* right,
                          llvm::Value* sum);

}  // namespace cupola::kir
