// Dot products on x86-64, with the widest registers that code for the processor uses:
//
//   AVX-VNNI-INT8    an instruction adds four products of bytes, of any sign
//   VNNI             ... four products of an unsigned byte and a signed one, or two of signed halves
//   all              pmaddwd gives the sum of two products of signed halves; bytes are made halves, those at even
//                    places and those at odd ones apart
//
// A side whose sign an instruction does not take has the highest bits of its parts inverted, which moves them by half
// their range: (x + 128) * y is x * y and 128 * y. The latter depends neither on the sum nor on the side that was
// moved, so that LLVM can share it or take it out of a loop.

#include "backend/cpu/build/dot_products.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

#include <numeric>

#include "backend/cpu/build/register_bits.h"

namespace cupola::cpu::build {
namespace {

using llvm::Value;
using Id = llvm::Intrinsic::ID;

/// An operation on registers of 128, 256 and 512 bits.
struct Operation {
  Id of128, of256, of512;
};
#define CUPOLA_OPERATION(small, large) \
  {llvm::Intrinsic::x86_##small##_128, llvm::Intrinsic::x86_##small##_256, llvm::Intrinsic::x86_##large##_512}
constexpr Operation kSignedBytes = CUPOLA_OPERATION(avx2_vpdpbssd, avx10_vpdpbssd);
constexpr Operation kSignedByUnsignedBytes = CUPOLA_OPERATION(avx2_vpdpbsud, avx10_vpdpbsud);
constexpr Operation kUnsignedBytes = CUPOLA_OPERATION(avx2_vpdpbuud, avx10_vpdpbuud);
constexpr Operation kUnsignedBySignedBytes = CUPOLA_OPERATION(avx512_vpdpbusd, avx512_vpdpbusd);
constexpr Operation kSignedHalves = CUPOLA_OPERATION(avx512_vpdpwssd, avx512_vpdpwssd);
#undef CUPOLA_OPERATION
constexpr Operation kPairsOfHalves = {llvm::Intrinsic::x86_sse2_pmadd_wd, llvm::Intrinsic::x86_avx2_pmadd_wd,
                                      llvm::Intrinsic::x86_avx512_pmaddw_d_512};

/// Bits of the registers that code uses with an extension of the instruction set; 0: the processor does not have it.
struct Widths {
  unsigned pairs = 128, vnni = 0, vnni_int8 = 0;
};

Widths widths_of(const llvm::TargetMachine& machine, const llvm::Function& function) {
  const auto has = [&](const char* feature) { return machine.getMCSubtargetInfo()->checkFeatures(feature); };
  const bool is_wide = register_bits(machine.getTargetTransformInfo(function)) >= 512;
  Widths widths;
  if (has("+avx2")) widths.pairs = 256;
  if (has("+avxvnni") || (has("+avx512vnni") && has("+avx512vl"))) widths.vnni = 256;
  if (has("+avxvnniint8")) widths.vnni_int8 = 256;
  if (is_wide && has("+avx512bw")) widths.pairs = 512;
  if (is_wide && has("+avx512vnni")) widths.vnni = 512;
  if (is_wide && has("+avx10.2")) widths.vnni_int8 = 512;
  return widths;
}

class Products {
 public:
  Products(llvm::IRBuilderBase& b, llvm::Type* words, const Widths& widths)
      : b_(b), words_(llvm::cast<llvm::FixedVectorType>(words)), widths_(widths) {}

  Value* of_bytes(const kir::DotProduct& product, Value* left, Value* right, Value* sum) {
    if (product.right_signed && !product.left_signed)
      return of_bytes({.of_bytes = true, .left_signed = true, .right_signed = false}, right, left, sum);
    if (widths_.vnni_int8) {
      const Operation& add = !product.left_signed   ? kUnsignedBytes
                             : product.right_signed ? kSignedBytes
                                                    : kSignedByUnsignedBytes;
      return apply(add, widths_.vnni_int8, {sum, left, right});
    }
    if (!widths_.vnni) {
      sum = b_.CreateAdd(sum, pairs(low_bytes(left, product.left_signed), low_bytes(right, product.right_signed)));
      return b_.CreateAdd(sum, pairs(high_bytes(left, product.left_signed), high_bytes(right, product.right_signed)));
    }
    const auto add = [&](Value* to, Value* unsigned_side, Value* signed_side) {
      return apply(kUnsignedBySignedBytes, widths_.vnni, {to, unsigned_side, signed_side});
    };
    if (!product.right_signed && product.left_signed) return add(sum, right, left);
    Value *half = b_.getInt32(0x80808080), *zero = llvm::Constant::getNullValue(words_);
    half = b_.CreateVectorSplat(words_->getElementCount(), half);
    Value* moved = b_.CreateXor(left, half);
    if (product.left_signed) return add(b_.CreateSub(sum, add(zero, half, right)), moved, right);
    return add(b_.CreateSub(sum, add(zero, right, half)), right, moved);
  }

  /// The left side's halves by the low bytes of the right one.
  Value* of_halves(const kir::DotProduct& product, Value* left, Value* right, Value* sum) {
    Value* bytes = b_.CreateOr(b_.CreateAnd(right, 0xff), b_.CreateAnd(b_.CreateShl(right, 8), 0xff0000));
    right = low_bytes(bytes, product.right_signed);
    if (!product.left_signed) {
      Value* half = b_.CreateVectorSplat(words_->getElementCount(), b_.getInt32(0x80008000));
      sum = b_.CreateSub(sum, pairs(half, right));
      left = b_.CreateXor(left, half);
    }
    if (widths_.vnni) return apply(kSignedHalves, widths_.vnni, {sum, left, right});
    return b_.CreateAdd(sum, pairs(left, right));
  }

 private:
  Value* pairs(Value* left, Value* right) { return apply(kPairsOfHalves, widths_.pairs, {left, right}); }

  llvm::Type* halves() { return llvm::FixedVectorType::get(b_.getInt16Ty(), 2 * words_->getNumElements()); }
  /// Of each half the low byte, as a half.
  Value* low_bytes(Value* words, bool is_signed) {
    if (!is_signed) return b_.CreateAnd(words, 0x00ff00ff);
    return high_bytes(b_.CreateBitCast(b_.CreateShl(b_.CreateBitCast(words, halves()), 8), words_), true);
  }
  Value* high_bytes(Value* words, bool is_signed) {
    words = b_.CreateBitCast(words, halves());
    return b_.CreateBitCast(is_signed ? b_.CreateAShr(words, 8) : b_.CreateLShr(words, 8), words_);
  }

  /// The operation, a register after the other.
  Value* apply(const Operation& operation, unsigned bits, llvm::ArrayRef<Value*> operands) {
    llvm::Module* module = b_.GetInsertBlock()->getModule();
    const Id id = bits == 512 ? operation.of512 : bits == 256 ? operation.of256 : operation.of128;
    llvm::Function* callee = llvm::Intrinsic::getOrInsertDeclaration(module, id);
    const unsigned count = bits / 32;
    llvm::SmallVector<Value*, 8> results;
    for (unsigned first = 0; first < words_->getNumElements(); first += count) {
      llvm::SmallVector<int, 16> places(count);
      std::iota(places.begin(), places.end(), static_cast<int>(first));
      llvm::SmallVector<Value*, 3> parts;
      for (Value* operand : operands)
        parts.push_back(
            b_.CreateBitCast(b_.CreateShuffleVector(operand, places), callee->getArg(parts.size())->getType()));
      results.push_back(b_.CreateCall(callee, parts));
    }
    return llvm::concatenateVectors(b_, results);
  }

  llvm::IRBuilderBase& b_;
  llvm::FixedVectorType* words_;
  const Widths widths_;
};

}  // namespace

Value* add_products_of_lanes(llvm::IRBuilderBase& b, const kir::DotProduct& product, Value* left, Value* right,
                             Value* sum, const llvm::TargetMachine& machine) {
  if (machine.getTargetTriple().getArch() != llvm::Triple::x86_64)
    return kir::add_products(b, product, left, right, sum);
  Products products(b, sum->getType(), widths_of(machine, *b.GetInsertBlock()->getParent()));
  return product.of_bytes ? products.of_bytes(product, left, right, sum)
                          : products.of_halves(product, left, right, sum);
}

}  // namespace cupola::cpu::build
