#include "backend/cpu/build/approximations.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "kir/kir.h"

namespace cupola::cpu::build {
namespace {

using llvm::Value;

constexpr unsigned kRegister = 16;  ///< numbers of f32
constexpr uint16_t kAll = 0xffff;   ///< no lane is masked
constexpr uint32_t kNearest = 4;    ///< rounding as the thread has it set

Value* zero_of(Value* like) {
  return llvm::Constant::getNullValue(like->getType());
}

/// What an instruction on whole registers makes of rows, which fill one or two.
Value* by_registers(llvm::IRBuilderBase& b, llvm::ArrayRef<Value*> rows,
                    llvm::function_ref<Value*(llvm::ArrayRef<Value*>)> instruction) {
  llvm::SmallVector<int, 2 * kRegister> places(llvm::cast<llvm::FixedVectorType>(rows[0]->getType())->getNumElements());
  std::iota(places.begin(), places.end(), 0);
  const llvm::ArrayRef<int> all(places);
  if (all.size() == kRegister) return instruction(rows);
  const auto half = [&](llvm::ArrayRef<int> of) {
    llvm::SmallVector<Value*, 2> parts;
    for (Value* row : rows) parts.push_back(b.CreateShuffleVector(row, of));
    return instruction(parts);
  };
  Value* low = half(all.take_front(kRegister));
  return b.CreateShuffleVector(low, half(all.take_back(kRegister)), all);
}

/// The processor's estimate; 14 bits of it are right.
Value* estimate(llvm::IRBuilderBase& b, llvm::Intrinsic::ID id, Value* x) {
  return by_registers(b, {x}, [&](llvm::ArrayRef<Value*> part) -> Value* {
    return b.CreateIntrinsic(id, {}, {part[0], zero_of(part[0]), b.getInt16(kAll)});
  });
}

/// The number in [1, 2) with x's sign and digits; of 0 and infinity 1.
Value* digits(llvm::IRBuilderBase& b, Value* x) {
  return by_registers(b, {x}, [&](llvm::ArrayRef<Value*> part) -> Value* {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_getmant_ps_512, {},
                             {part[0], b.getInt32(0), zero_of(part[0]), b.getInt16(kAll), b.getInt32(kNearest)});
  });
}

/// The exponent of x; of 0 and infinity -infinity and infinity.
Value* exponent(llvm::IRBuilderBase& b, Value* x) {
  return by_registers(b, {x}, [&](llvm::ArrayRef<Value*> part) -> Value* {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_getexp_ps_512, {},
                             {part[0], zero_of(part[0]), b.getInt16(kAll), b.getInt32(kNearest)});
  });
}

/// x times 2 to the power of `exponent`, a whole number.
Value* scaled(llvm::IRBuilderBase& b, Value* x, Value* exponent) {
  return by_registers(b, {x, exponent}, [&](llvm::ArrayRef<Value*> part) -> Value* {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                             {part[0], part[1], zero_of(part[0]), b.getInt16(kAll), b.getInt32(kNearest)});
  });
}

Value* fma(llvm::IRBuilderBase& b, Value* x, Value* y, Value* z) {
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
}

Value* constant(Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

/// The step's result but where it is none: from an estimate of zero or infinity, which is right as it is.
Value* unless_estimate_is_right(llvm::IRBuilderBase& b, Value* stepped, Value* estimated) {
  return b.CreateSelect(b.CreateFCmpUNO(stepped, stepped), estimated, stepped);
}

/// r + r (1 - x r), from the estimate r of 1/x.
Value* reciprocal_from(llvm::IRBuilderBase& b, Value* x, Value* r) {
  return fma(b, r, fma(b, b.CreateFNeg(x), r, constant(x, 1)), r);
}

Value* reciprocal(llvm::IRBuilderBase& b, Value* x) {
  Value* r = estimate(b, llvm::Intrinsic::x86_avx512_rcp14_ps_512, x);
  return unless_estimate_is_right(b, reciprocal_from(b, x, r), r);
}

/// By the digits of both, so that nothing overflows or loses digits on the way, and then by their exponents. What is no
/// number, as 0/0, has none.
Value* quotient(llvm::IRBuilderBase& b, Value* x, Value* y) {
  Value* divisor = digits(b, y);
  Value* inverse = reciprocal_from(b, divisor, estimate(b, llvm::Intrinsic::x86_avx512_rcp14_ps_512, divisor));
  return scaled(b, b.CreateFMul(digits(b, x), inverse), b.CreateFSub(exponent(b, x), exponent(b, y)));
}

/// 1/sqrt(x). r + r (1/2 - (x r)(r/2)).
Value* reciprocal_root(llvm::IRBuilderBase& b, Value* x) {
  Value* r = estimate(b, llvm::Intrinsic::x86_avx512_rsqrt14_ps_512, x);
  Value* rest = fma(b, b.CreateFNeg(b.CreateFMul(x, r)), b.CreateFMul(r, constant(x, 0.5)), constant(x, 0.5));
  return unless_estimate_is_right(b, fma(b, r, rest, r), r);
}

/// sqrt(x): s + s (1/2 - s (r/2)), where s = x r. Of zeros r is infinite, and the greatest number does.
Value* root(llvm::IRBuilderBase& b, Value* x) {
  Value* r = estimate(b, llvm::Intrinsic::x86_avx512_rsqrt14_ps_512, x);
  Value* greatest = constant(x, std::numeric_limits<float>::max());
  r = b.CreateSelect(b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, r), greatest), greatest, r);
  Value* s = b.CreateFMul(x, r);
  Value* rest = fma(b, b.CreateFNeg(s), b.CreateFMul(r, constant(x, 0.5)), constant(x, 0.5));
  return b.CreateSelect(b.CreateFCmpOEQ(x, constant(x, HUGE_VAL)), x, fma(b, s, rest, s));
}

Value* approximation_of(llvm::Instruction& instruction) {
  using namespace llvm::PatternMatch;
  llvm::IRBuilder<> b(&instruction);
  Value* x = instruction.getOperand(0);
  if (instruction.getOpcode() != llvm::Instruction::FDiv) return root(b, x);
  Value* divisor = instruction.getOperand(1);
  const auto* below = llvm::dyn_cast<llvm::Instruction>(divisor);
  Value* of = nullptr;
  const bool is_of_root =
      below && kir::may_approximate(*below) && match(below, m_Intrinsic<llvm::Intrinsic::sqrt>(m_Value(of)));
  const bool is_inverse = match(x, m_FPOne());
  if (!is_of_root) return is_inverse ? reciprocal(b, divisor) : quotient(b, x, divisor);
  Value* inverse = reciprocal_root(b, of);
  return is_inverse ? inverse : b.CreateFMul(x, inverse);
}

bool is_row(const llvm::Instruction& instruction) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  return type && (type->getNumElements() == kRegister || type->getNumElements() == 2 * kRegister);
}

}  // namespace

void approximate(llvm::Module& module, const llvm::TargetMachine& machine) {
  const bool estimates = machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::Instruction*, 16> found;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (kir::may_approximate(instruction)) found.push_back(&instruction);
    for (llvm::Instruction* instruction : llvm::reverse(found)) {  // what divides by a root before the root
      if (estimates && is_row(*instruction) && !instruction->use_empty())
        instruction->replaceAllUsesWith(approximation_of(*instruction));
      if (instruction->use_empty())
        instruction->eraseFromParent();
      else
        instruction->setHasApproxFunc(false);
    }
  }
}

}  // namespace cupola::cpu::build
