#include "backend/cpu/build/known_numbers.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Scalar/GVN.h>

namespace cupola::cpu::build {
namespace {

bool is_first_of_row(const llvm::User* user) {
  const auto* insertion = llvm::dyn_cast<llvm::InsertElementInst>(user);
  return insertion && llvm::isa<llvm::PoisonValue>(insertion->getOperand(0));
}

/// What may be marked as atomic: a number of whole bytes, a power of two of them.
bool is_number(const llvm::Type& type) {
  const unsigned bits = type.getScalarSizeInBits();
  return !type.isVectorTy() && bits >= 8 && llvm::isPowerOf2_32(bits);
}

bool is_stored_number(const llvm::Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return store && store->isSimple() && is_number(*store->getValueOperand()->getType());
}

bool is_number_of_rows(const llvm::Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  return load && load->isSimple() && is_number(*load->getType()) && llvm::all_of(load->users(), is_first_of_row);
}

void set_ordering(llvm::Instruction& instruction, llvm::AtomicOrdering ordering) {
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return store->setOrdering(ordering);
  llvm::cast<llvm::LoadInst>(instruction).setOrdering(ordering);
}

bool is_unordered(const llvm::Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  return (store && store->getOrdering() == llvm::AtomicOrdering::Unordered) ||
         (load && load->getOrdering() == llvm::AtomicOrdering::Unordered);
}

}  // namespace

llvm::PreservedAnalyses TakeKnownNumbers::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  // GVN takes for an atomic load what was stored or loaded atomically alone. Nothing else is marked as unordered, which
  // orders nothing.
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (is_stored_number(instruction) || is_number_of_rows(instruction))
      set_ordering(instruction, llvm::AtomicOrdering::Unordered);
  const llvm::PreservedAnalyses preserved = llvm::GVNPass().run(function, analyses);
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (is_unordered(instruction)) set_ordering(instruction, llvm::AtomicOrdering::NotAtomic);
  return preserved;
}

}  // namespace cupola::cpu::build
