#include "backend/cpu/build/lane_operand.h"

#include <llvm/IR/Instructions.h>

#include "backend/cpu/build/vector_lanes.h"

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr unsigned kMostInstructions = 8;

bool is_stepped(Lanes& lanes, const Value* value) {
  const Shape shape = lanes.shape(value);
  return shape.kind == Shape::Kind::Affine && !shape.is_extended;
}

/// Nothing may have written over what the load read.
bool reads_the_same(const llvm::LoadInst& load, const Instruction& user) {
  if (!load.isSimple()) return false;
  for (const Instruction* between = &load; between != &user; between = between->getNextNode())
    if (between->mayWriteToMemory()) return false;
  return true;
}

bool is_cheap(const Instruction& instruction, const Instruction& user) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return reads_the_same(*load, user);
  if (llvm::isa<llvm::GetElementPtrInst>(instruction)) return true;
  if (!instruction.getType()->isIntegerTy()) return false;
  return llvm::isa<llvm::SExtInst, llvm::ZExtInst, llvm::TruncInst, llvm::SelectInst>(instruction) ||
         (llvm::isa<llvm::BinaryOperator>(instruction) && !instruction.isIntDivRem());
}

class Question {
 public:
  Question(Lanes& lanes, const Instruction& user) : lanes_(lanes), user_(user) {}

  bool can_remake(const Value* value) {
    if (lanes_.shape(value).is_uniform() || is_stepped(lanes_, value)) return true;
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || instruction->getParent() != lanes_.current || ++count_ > kMostInstructions) return false;
    reads_ |= llvm::isa<llvm::LoadInst>(instruction);
    return is_cheap(*instruction, user_) &&
           llvm::all_of(instruction->operands(), [&](const Value* operand) { return can_remake(operand); });
  }
  bool reads() const { return reads_; }

 private:
  Lanes& lanes_;
  const Instruction& user_;
  unsigned count_ = 0;
  bool reads_ = false;
};

}  // namespace

bool can_remake(Lanes& lanes, Value* operand, const Instruction& user) {
  Question question(lanes, user);
  return question.can_remake(operand) && question.reads();
}

Value* remake(Lanes& lanes, Value* operand, Value* lane) {
  llvm::IRBuilder<>& builder = lanes.builder;
  if (lanes.shape(operand).is_uniform()) return lanes.scalar(operand);
  llvm::Type* type = operand->getType();
  if (is_stepped(lanes, operand)) {
    llvm::Type* number = type->isPointerTy() ? builder.getInt64Ty() : type;
    Value* step = llvm::ConstantInt::getSigned(number, lanes.shape(operand).stride, /*ImplicitTrunc=*/true);
    Value* distance = builder.CreateMul(builder.CreateZExtOrTrunc(lane, number), step);
    return type->isPointerTy() ? builder.CreateGEP(builder.getInt8Ty(), lanes.scalar(operand), distance)
                               : builder.CreateAdd(lanes.scalar(operand), distance);
  }
  Instruction* copy = llvm::cast<Instruction>(operand)->clone();
  for (llvm::Use& use : copy->operands()) use.set(remake(lanes, use.get(), lane));
  return builder.Insert(copy);
}

}  // namespace cupola::cpu::build
