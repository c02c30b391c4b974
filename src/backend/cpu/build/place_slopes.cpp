#include "backend/cpu/build/place_slopes.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MathExtras.h>

#include "backend/cpu/build/vector_steps.h"

namespace cupola::cpu::build {

using llvm::Value;

namespace {

/// Of a + b * times.
std::optional<Slope> sum(const Slope& a, const Slope& b, int64_t times) {
  Slope slope;
  for (size_t d = 0; d < slope.size(); ++d) {
    int64_t product = 0;
    if (llvm::MulOverflow(b[d], times, product) || llvm::AddOverflow(a[d], product, slope[d])) return std::nullopt;
  }
  return slope;
}

}  // namespace

std::optional<Slope> Slopes::of(const Value* value) {
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  const std::optional<Slope> slope = find(value);
  return known_[value] = slope;
}

std::optional<Slope> Slopes::find(const Value* value) {
  if (!value->getType()->isIntegerTy() || value->getType()->getIntegerBitWidth() > 64) return std::nullopt;
  if (llvm::isa<llvm::ConstantInt, llvm::Argument>(value)) return Slope{};
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction) return std::nullopt;
  if (const auto known = kir::intrinsic_of(*instruction)) return of_register(*known);
  if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst, llvm::FreezeInst>(
          instruction) ||
      !llvm::isSafeToSpeculativelyExecute(instruction))
    return std::nullopt;
  bool are_flat = true;
  for (const Value* operand : instruction->operands()) {
    const auto slope = of(operand);
    if (!slope) return std::nullopt;
    are_flat &= is_flat(*slope);
  }
  return are_flat ? Slope{} : of_moving(*instruction);
}

std::optional<Slope> Slopes::of_register(kir::Intrinsic known) {
  using enum kir::Intrinsic;
  if (known == TidX) return Slope{1, 0, 0};
  if (known == TidY) return Slope{0, 1, 0};
  if (known == TidZ) return Slope{0, 0, 1};
  return is_place_or_size(known) ? std::optional(Slope{}) : std::nullopt;
}

std::optional<Slope> Slopes::of_moving(const llvm::Instruction& instruction) {
  const auto of_operand = [&](unsigned i) { return *of(instruction.getOperand(i)); };
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Trunc:
    case llvm::Instruction::Freeze:
      return of_operand(0);
    case llvm::Instruction::Or:
      if (!llvm::cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint()) return std::nullopt;
      [[fallthrough]];
    case llvm::Instruction::Add:
      return sum(of_operand(0), of_operand(1), 1);
    case llvm::Instruction::Sub:
      return sum(of_operand(0), of_operand(1), -1);
    case llvm::Instruction::Mul:
    case llvm::Instruction::Shl: {
      const auto* by = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
      if (!by) return std::nullopt;
      if (instruction.getOpcode() == llvm::Instruction::Mul) return sum(Slope{}, of_operand(0), by->getSExtValue());
      if (by->getValue().uge(32)) return std::nullopt;
      return sum(Slope{}, of_operand(0), int64_t{1} << by->getZExtValue());
    }
    default:
      return std::nullopt;
  }
}

}  // namespace cupola::cpu::build
