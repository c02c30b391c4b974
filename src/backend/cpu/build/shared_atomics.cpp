#include "backend/cpu/build/shared_atomics.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "backend/cpu/build/thread_context.h"

namespace cupola::cpu::build {
namespace {

constexpr const char* kMark = "cupola.shared_atomic";

const llvm::Value* address_of(const llvm::Instruction& instruction) {
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return update->getPointerOperand();
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return exchange->getPointerOperand();
  return nullptr;
}

/// Whether the address is made of the shared window's, as the context says it.
bool lies_in_window(const llvm::Value* address) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(llvm::getUnderlyingObject(address));
  return load && constant_field(*load) == offsetof(image::cpu::ThreadContext, shared_window);
}

}  // namespace

void mark_shared_atomics(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (const llvm::Value* address = address_of(instruction); address && lies_in_window(address))
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
