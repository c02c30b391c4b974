#include "backend/cpu/build/place_notes.h"

#include <llvm/ADT/SmallSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>

#include "backend/cpu/build/thread_context.h"

// LLVM sees so by itself only where few notes are made: a context whose address has many uses counts as given away.

namespace cupola::cpu::build {
namespace {

/// Nothing that the context has, for certain.
bool is_elsewhere(const llvm::Instruction& instruction) {
  const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    const llvm::Intrinsic::ID which = call->getIntrinsicID();
    if (which == llvm::Intrinsic::masked_gather || which == llvm::Intrinsic::masked_scatter) return true;
    if (which == llvm::Intrinsic::masked_load) address = call->getArgOperand(0);
    if (which == llvm::Intrinsic::masked_store) address = call->getArgOperand(1);
  }
  return address && llvm::getUnderlyingObject(address) != context_of(*instruction.getFunction());
}

/// Where in the context the note is made; nothing: it is none.
std::optional<uint64_t> place_of_note(const llvm::Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  if (!store || !store->isVolatile()) return std::nullopt;
  if (!store->getValueOperand()->getType()->isIntegerTy(32)) return std::nullopt;
  return place_in_context(*store->getPointerOperand(), *instruction.getFunction());
}

}  // namespace

void drop_overwritten_notes(llvm::Function& code) {
  for (llvm::BasicBlock& block : code) {
    llvm::SmallSet<uint64_t, 8> overwritten;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (const auto place = place_of_note(instruction)) {
        if (!overwritten.insert(*place).second) instruction.eraseFromParent();
      } else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
                 instruction.mayReadOrWriteMemory() && !(call && call->getIntrinsicID() == llvm::Intrinsic::prefetch)) {
        overwritten.clear();
      }
    }
  }
}

void tell_notes_apart(llvm::Function& code, llvm::ArrayRef<llvm::StoreInst*> notes) {
  constexpr unsigned kScopes = llvm::LLVMContext::MD_alias_scope, kOthers = llvm::LLVMContext::MD_noalias;
  llvm::MDBuilder metadata(code.getContext());
  llvm::MDNode* elsewhere = metadata.createAnonymousAliasScope(metadata.createAnonymousAliasScopeDomain());
  llvm::MDNode* scopes = llvm::MDNode::get(code.getContext(), elsewhere);
  for (llvm::StoreInst* note : notes) note->setMetadata(kOthers, scopes);
  for (llvm::Instruction& instruction : llvm::instructions(code))
    if (is_elsewhere(instruction))
      instruction.setMetadata(kScopes, llvm::MDNode::concatenate(instruction.getMetadata(kScopes), scopes));
}

}  // namespace cupola::cpu::build
