#include "backend/cpu/build/vector_atomics.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <numeric>
#include <optional>

#include "backend/cpu/build/vector_lanes.h"

namespace cupola::cpu::build {
namespace {

using llvm::AtomicRMWInst;
using llvm::Value;
using enum AtomicRMWInst::BinOp;

/// What makes one operand of those of all lanes; of operations with integers.
std::optional<llvm::Intrinsic::ID> reduction_of(AtomicRMWInst::BinOp operation) {
  switch (operation) {
    case Add:
    case Sub:
      return llvm::Intrinsic::vector_reduce_add;
    case And:
      return llvm::Intrinsic::vector_reduce_and;
    case Or:
      return llvm::Intrinsic::vector_reduce_or;
    case Xor:
      return llvm::Intrinsic::vector_reduce_xor;
    case Max:
      return llvm::Intrinsic::vector_reduce_smax;
    case Min:
      return llvm::Intrinsic::vector_reduce_smin;
    case UMax:
      return llvm::Intrinsic::vector_reduce_umax;
    case UMin:
      return llvm::Intrinsic::vector_reduce_umin;
    default:
      return std::nullopt;
  }
}

class CommonUpdate {
 public:
  CommonUpdate(Lanes& lanes, AtomicRMWInst& update)
      : lanes_(lanes), builder_(lanes.builder), update_(update), operation_(update.getOperation()) {}

  void write() {
    Value* operands = of_running_lanes();
    Value* all = builder_.CreateUnaryIntrinsic(*reduction_of(operation_), operands);
    auto* made = llvm::cast<AtomicRMWInst>(update_.clone());
    made->setOperand(0, lanes_.scalar(update_.getPointerOperand()));
    made->setOperand(1, all);
    builder_.Insert(made);
    if (update_.use_empty()) return lanes_.define(update_, lanes_.splat(made));
    const auto opcode = operation_ == Add ? llvm::Instruction::Add : llvm::Instruction::Sub;
    lanes_.define(update_, builder_.CreateBinOp(opcode, lanes_.splat(made), sums_before(operands)));
  }

 private:
  /// Those that do not run it may hold anything.
  Value* of_running_lanes() {
    Value *operands = lanes_.vector(update_.getValOperand()), *mask = lanes_.mask();
    if (!mask) return operands;
    Value* neutral = llvm::getReductionIdentity(*reduction_of(operation_), update_.getType(), llvm::FastMathFlags());
    return builder_.CreateSelect(mask, operands, lanes_.splat(neutral));
  }

  /// What lower lanes add, for each lane.
  Value* sums_before(Value* operands) {
    Value* sums = moved_up(operands, 1);
    for (unsigned distance = 1; distance < kLanes; distance *= 2)
      sums = builder_.CreateAdd(sums, moved_up(sums, distance));
    return sums;
  }

  /// Each lane has what is `distance` lanes below it, the lowest ones zero.
  Value* moved_up(Value* values, unsigned distance) {
    llvm::SmallVector<int, kLanes> order(kLanes);
    std::iota(order.begin(), order.end(), static_cast<int>(kLanes - distance));
    return builder_.CreateShuffleVector(llvm::Constant::getNullValue(values->getType()), values, order);
  }

  Lanes& lanes_;
  llvm::IRBuilder<>& builder_;
  AtomicRMWInst& update_;
  const AtomicRMWInst::BinOp operation_;
};

}  // namespace

bool is_one_for_all(const AtomicRMWInst& update) {
  const AtomicRMWInst::BinOp operation = update.getOperation();
  return reduction_of(operation) && (update.use_empty() || operation == Add || operation == Sub);
}

bool widen_common_update(Lanes& lanes, AtomicRMWInst& update) {
  if (!lanes.shape(update.getPointerOperand()).is_uniform() || !is_one_for_all(update)) return false;
  CommonUpdate(lanes, update).write();
  return true;
}

}  // namespace cupola::cpu::build
