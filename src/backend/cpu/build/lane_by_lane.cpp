#include "backend/cpu/build/lane_by_lane.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace cupola::cpu::build {

unsigned lanes_of(const llvm::Value& value) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
  return type ? type->getNumElements() : 0;
}

bool is_lane_by_lane(const llvm::Instruction& instruction) {
  if (lanes_of(instruction) == 0) return false;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID()) &&
           llvm::all_of(call->args(), [&](const llvm::Use& each) { return each->getType() == call->getType(); });
  return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst,
                   llvm::FreezeInst>(instruction) &&
         llvm::all_of(instruction.operands(),
                      [&](const llvm::Use& each) { return lanes_of(*each) == lanes_of(instruction); });
}

}  // namespace cupola::cpu::build
