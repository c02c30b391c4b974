#include "backend/cpu/build/gather_addresses.h"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
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

/// `select c, extended x, k` as the extension of a choice between numbers of x's size, in its place: LLVM turns shifts
/// by what may be too much round so. Null: it is none of such.
llvm::CastInst* extension_of_choice(llvm::SelectInst& choice) {
  for (const bool is_false : {false, true}) {
    auto* extended = llvm::dyn_cast<llvm::CastInst>(is_false ? choice.getFalseValue() : choice.getTrueValue());
    auto* other = llvm::dyn_cast<llvm::Constant>(is_false ? choice.getTrueValue() : choice.getFalseValue());
    if (!other || !extended || !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extended)) continue;
    const llvm::DataLayout& layout = choice.getDataLayout();
    const auto cast = [&](llvm::Constant* number, llvm::Type* type) {
      return llvm::ConstantFoldIntegerCast(number, type, llvm::isa<llvm::SExtInst>(extended), layout);
    };
    llvm::Constant* narrow = cast(other, extended->getSrcTy());
    if (!narrow || cast(narrow, choice.getType()) != other) continue;
    llvm::IRBuilder<> builder(&choice);
    llvm::Value* number = extended->getOperand(0);
    number = builder.CreateSelect(choice.getCondition(), is_false ? narrow : number, is_false ? number : narrow);
    return llvm::dyn_cast<llvm::CastInst>(builder.CreateCast(extended->getOpcode(), number, choice.getType()));
  }
  return nullptr;
}

/// Whether it is not negative; of a frozen number, what it is where it is known: of lanes that have another, none reads
/// or writes, or nobody knows where.
bool is_not_negative(const llvm::Value* number, const llvm::DataLayout& layout) {
  if (const auto* frozen = llvm::dyn_cast<llvm::FreezeInst>(number)) number = frozen->getOperand(0);
  return llvm::isKnownNonNegative(number, layout);
}

/// `zext x` of what is not negative as `sext x`: code generation takes numbers of 32 bits for signed ones.
void extend_by_signs(llvm::Use& index) {
  auto* zeros = llvm::dyn_cast<llvm::ZExtInst>(index.get());
  if (!zeros) return;
  llvm::Value* number = zeros->getOperand(0);
  if (!zeros->hasNonNeg() && !is_not_negative(number, zeros->getDataLayout())) return;
  llvm::IRBuilder<> builder(zeros);
  index.set(builder.CreateSExt(number, zeros->getType()));
}

}  // namespace

void make_addresses_beside_gathers(llvm::Function& function) {
  for (Instruction& access : llvm::instructions(function)) {
    llvm::Use* addresses = addresses_of(access);
    Instruction* sum = addresses ? copy_to<llvm::GetElementPtrInst>(access, *addresses) : nullptr;
    if (!sum) continue;
    for (llvm::Use& index : sum->operands()) {
      if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(index.get()))
        if (llvm::CastInst* extension = extension_of_choice(*choice)) index.set(extension);
      const auto* cast = llvm::dyn_cast<llvm::CastInst>(index.get());
      if (cast && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast)) copy_to<llvm::CastInst>(*sum, index);
      extend_by_signs(index);
    }
  }
}

}  // namespace cupola::cpu::build
