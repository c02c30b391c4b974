#include "kir/dot_product.h"

#include <llvm/IR/Instructions.h>

#include "kir/intrinsics.h"

namespace cupola::kir {
namespace {

using llvm::Value;

constexpr uint32_t kLeftSigned = 1, kRightSigned = 2;

Value* part(llvm::IRBuilderBase& b, Value* word, unsigned place, unsigned width, bool is_signed) {
  llvm::Type* narrow = word->getType()->getWithNewBitWidth(width);
  Value* bits = b.CreateTrunc(b.CreateLShr(word, uint64_t{place} * width), narrow);
  return is_signed ? b.CreateSExt(bits, word->getType()) : b.CreateZExt(bits, word->getType());
}

}  // namespace

uint32_t kind_of(const DotProduct& product) {
  return (product.left_signed ? kLeftSigned : 0) | (product.right_signed ? kRightSigned : 0);
}

DotProduct dot_product_of(const llvm::CallInst& call) {
  const uint64_t kind = llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue();
  return {.of_bytes = intrinsic_of(call) == Intrinsic::Dot4,
          .left_signed = (kind & kLeftSigned) != 0,
          .right_signed = (kind & kRightSigned) != 0};
}

Value* add_products(llvm::IRBuilderBase& b, const DotProduct& product, Value* left, Value* right, Value* sum) {
  for (unsigned i = 0; i < (product.of_bytes ? 4u : 2u); ++i)
    sum = b.CreateAdd(sum, b.CreateMul(part(b, left, i, product.of_bytes ? 8 : 16, product.left_signed),
                                       part(b, right, i, 8, product.right_signed)));
  return sum;
}

}  // namespace cupola::kir
