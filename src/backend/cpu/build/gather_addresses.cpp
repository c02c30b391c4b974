#include "backend/cpu/build/gather_addresses.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;

/// The operand of the access that is a vector of addresses; null: it is none.
llvm::Use* addresses_of(Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return nullptr;
  if (call->getIntrinsicID() == llvm::Intrinsic::masked_gather) return &call->getArgOperandUse(0);
  if (call->getIntrinsicID() == llvm::Intrinsic::masked_scatter) return &call->getArgOperandUse(1);
  return nullptr;
}

/// What `use` refers to, made anew in front of `place` if another block makes it; null: it is of another kind.
template <typename Kind>
Instruction* copy_to(Instruction& place, llvm::Use& use) {
  auto* made = llvm::dyn_cast<Kind>(use.get());
  if (!made) return nullptr;
  if (made->getParent() == place.getParent()) return made;
  Instruction* copy = made->clone();
  copy->insertBefore(place.getIterator());
  use.set(copy);
  return copy;
}

}  // namespace

void make_addresses_beside_gathers(llvm::Function& function) {
  for (Instruction& access : llvm::instructions(function)) {
    llvm::Use* addresses = addresses_of(access);
    Instruction* sum = addresses ? copy_to<llvm::GetElementPtrInst>(access, *addresses) : nullptr;
    if (!sum) continue;
    for (llvm::Use& index : sum->operands()) {
      const auto* cast = llvm::dyn_cast<llvm::CastInst>(index.get());
      if (cast && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast)) copy_to<llvm::CastInst>(*sum, index);
    }
  }
}

}  // namespace cupola::cpu::build
