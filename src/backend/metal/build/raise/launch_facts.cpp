#include "backend/metal/build/raise/launch_facts.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/spaces.h"
#include "kir/intrinsics.h"

namespace cupola::metal::build {
namespace {

/// Given that its operands are facts.
bool follows_from_operands(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->isSimple() && load->getPointerAddressSpace() == kConstant;
  if (const auto known = metal_intrinsic_of(instruction)) return is_pure(*known);
  if (llvm::isa<llvm::CallInst>(instruction)) return kir::effect_of(instruction) == kir::Effect::kPure;
  return llvm::isa<llvm::GetElementPtrInst, llvm::CastInst>(instruction);
}

}  // namespace

void compute_facts_where_used(llvm::Function& kernel) {
  llvm::SetVector<llvm::Instruction*> facts;  // each behind its operands
  const auto is_known = [&](llvm::Value* operand) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(operand);
    return instruction ? facts.contains(instruction) || llvm::isa<llvm::AllocaInst>(instruction)
                       : llvm::isa<llvm::Constant>(operand);
  };
  for (size_t before = SIZE_MAX; before != facts.size();) {
    before = facts.size();
    for (llvm::Instruction& instruction : llvm::instructions(kernel))
      if (follows_from_operands(instruction) && llvm::all_of(instruction.operand_values(), is_known))
        facts.insert(&instruction);
  }
  for (llvm::Instruction* fact : llvm::reverse(facts)) {
    llvm::DenseMap<llvm::BasicBlock*, llvm::Instruction*> copies;
    for (llvm::Use& use : llvm::make_early_inc_range(fact->uses())) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
      llvm::BasicBlock* block = phi ? phi->getIncomingBlock(use) : user->getParent();
      if (block == fact->getParent()) continue;
      llvm::Instruction*& copy = copies[block];
      if (!copy) {
        copy = fact->clone();
        copy->insertInto(block, block->getFirstInsertionPt());
      }
      use.set(copy);
    }
    if (fact->use_empty()) fact->eraseFromParent();
  }
}

}  // namespace cupola::metal::build
