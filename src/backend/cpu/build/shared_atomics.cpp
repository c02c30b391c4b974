#include "backend/cpu/build/shared_atomics.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "backend/cpu/build/shared_window.h"

namespace cupola::cpu::build {
namespace {

constexpr const char* kMark = "cupola.shared_atomic";

const llvm::Value* address_of(const llvm::Instruction& instruction) {
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return update->getPointerOperand();
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return exchange->getPointerOperand();
  return nullptr;
}

}  // namespace

void mark_shared_atomics(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (const llvm::Value* address = address_of(instruction); address && is_in_window(*address))
        instruction.setMetadata(kMark, llvm::MDNode::get(module.getContext(), {}));
}

bool is_shared_atomic(const llvm::Instruction& instruction) {
  return instruction.hasMetadata(kMark);
}

void lower_shared_atomics(llvm::Module& module) {
  llvm::SmallVector<llvm::Instruction*, 16> marked;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (is_shared_atomic(instruction)) marked.push_back(&instruction);
  for (llvm::Instruction* instruction : marked)
    if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(instruction))
      llvm::lowerAtomicRMWInst(update);
    else
      llvm::lowerAtomicCmpXchgInst(llvm::cast<llvm::AtomicCmpXchgInst>(instruction));
}

}  // namespace cupola::cpu::build
