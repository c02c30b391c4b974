#include "backend/cpu/build/value_copy.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace cupola::cpu::build {

using llvm::Value;

ValueCopy::ValueCopy(const llvm::Function& from, llvm::IRBuilder<>& builder) : builder_(builder) {
  llvm::Function& to = *builder.GetInsertBlock()->getParent();
  for (const llvm::Argument& argument : from.args()) map_[&argument] = to.getArg(argument.getArgNo());
}

Value* ValueCopy::operator()(Value* value) {
  if (map_.count(value)) return map_[value];
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction) return value;
  for (Value* operand : instruction->operands())
    if (!llvm::isa<llvm::Function>(operand)) (*this)(operand);
  const auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(instruction);
  llvm::Instruction* made = bits && bits->isDisjoint()
                                ? llvm::BinaryOperator::CreateAdd(bits->getOperand(0), bits->getOperand(1))
                                : instruction->clone();
  made->dropPoisonGeneratingFlags();
  made->setDebugLoc({});
  llvm::RemapInstruction(made, map_, llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
  map_[value] = builder_.Insert(made);
  return made;
}

}  // namespace cupola::cpu::build
