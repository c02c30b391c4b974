// What LLVM leaves undefined and a GPU does not. PTX ISA, "Integer Arithmetic Instructions", "shl", "shr" and "cvt":
//
//   shl, lshr     an amount of the width or more gives 0
//   ashr          such an amount gives the sign in every bit
//   div by zero   machine-specific in PTX: here all ones, as on an H200, signed and unsigned, the remainder too
//   INT_MIN / -1  INT_MIN, remainder 0
//   float to int  rounds to zero and saturates; NaN gives 0, but 1 << (width - 1) where either side has 64 bits
//   ctlz, cttz    of 0 give the width
//
// Arithmetic wraps, so nsw, nuw and exact go. `noundef` and its kin go because a value that only some threads set may
// be passed to a shuffle. Aliasing by type goes because vector loads through casts are everywhere in CUDA programs; for
// the same reason a local variable that an int4 fits into is aligned like one (a GPU holds most of these in registers).
// `noalias` goes from functions that may wait for other threads: LLVM would not let a barrier change what such a
// pointer points at.

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "kir/float_to_int.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

using llvm::Value;

Value* guard_shift(llvm::IRBuilder<>& b, llvm::BinaryOperator& shift) {
  llvm::Type* type = shift.getType();
  const unsigned width = type->getScalarSizeInBits();
  Value* amount = shift.getOperand(1);
  if (shift.getOpcode() == llvm::Instruction::AShr) {
    Value* last = llvm::ConstantInt::get(type, width - 1);
    return b.CreateAShr(shift.getOperand(0), b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, amount, last));
  }
  Value* shifted = b.CreateBinOp(shift.getOpcode(), shift.getOperand(0), amount);
  Value* inside = b.CreateICmpULT(amount, llvm::ConstantInt::get(type, width));
  return b.CreateSelect(inside, shifted, llvm::Constant::getNullValue(type));
}

bool is_signed(const llvm::BinaryOperator& division) {
  return division.getOpcode() == llvm::Instruction::SDiv || division.getOpcode() == llvm::Instruction::SRem;
}

Value* guard_division(llvm::IRBuilder<>& b, llvm::BinaryOperator& division) {
  llvm::Type* type = division.getType();
  Value* dividend = division.getOperand(0);
  Value* divisor = division.getOperand(1);
  llvm::Constant* ones = llvm::Constant::getAllOnesValue(type);
  Value* by_zero = b.CreateICmpEQ(divisor, llvm::Constant::getNullValue(type));
  Value* traps = by_zero;
  if (is_signed(division)) {
    llvm::Constant* least = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
    traps = b.CreateOr(by_zero, b.CreateAnd(b.CreateICmpEQ(dividend, least), b.CreateICmpEQ(divisor, ones)));
  }
  Value* safe =
      b.CreateSelect(traps, llvm::ConstantInt::get(type, 1), divisor);  // INT_MIN / 1 is what INT_MIN / -1 wraps to
  Value* result = b.CreateBinOp(division.getOpcode(), dividend, safe);
  return b.CreateSelect(by_zero, ones, result);
}

/// A constant operand for which the plain instruction is already defined.
bool harmless(const llvm::BinaryOperator& instruction) {
  using namespace llvm::PatternMatch;
  const llvm::APInt* constant;
  if (!match(instruction.getOperand(1), m_APInt(constant))) return false;
  if (instruction.isShift()) return constant->ult(constant->getBitWidth());
  return !constant->isZero() && !(is_signed(instruction) && constant->isAllOnes());
}

Value* guarded(llvm::IRBuilder<>& b, llvm::Instruction& instruction) {
  if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    const bool divides = binary->isIntDivRem();
    if ((!binary->isShift() && !divides) || harmless(*binary)) return nullptr;
    return divides ? guard_division(b, *binary) : guard_shift(b, *binary);
  }
  if (llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction))
    return float_to_int(b, instruction.getOperand(0), instruction.getType(), llvm::isa<llvm::FPToSIInst>(instruction));
  return nullptr;
}

/// The last operand of these says that one input gives poison.
void define_every_input(llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return;
  const llvm::Intrinsic::ID id = call->getIntrinsicID();
  if (id == llvm::Intrinsic::ctlz || id == llvm::Intrinsic::cttz || id == llvm::Intrinsic::abs)
    call->setArgOperand(1, llvm::ConstantInt::getFalse(call->getContext()));
}

constexpr llvm::Attribute::AttrKind kPromises[] = {
    llvm::Attribute::NoUndef, llvm::Attribute::NonNull,   llvm::Attribute::Dereferenceable,
    llvm::Attribute::Range,   llvm::Attribute::NoFPClass, llvm::Attribute::DereferenceableOrNull};

llvm::AttributeMask promises() {
  llvm::AttributeMask mask;
  for (const llvm::Attribute::AttrKind kind : kPromises) mask.addAttribute(kind);
  return mask;
}

/// Of what is said of loops `#pragma unroll` alone is no liberty; mustprogress is one: polling loops stay.
void keep_wish_to_unroll(llvm::Instruction& instruction) {
  llvm::MDNode* said = instruction.getMetadata(llvm::LLVMContext::MD_loop);
  if (!said) return;
  llvm::SmallVector<llvm::Metadata*, 2> kept = {nullptr};  // itself
  for (const char* name : {"llvm.loop.unroll.enable", "llvm.loop.unroll.full", "llvm.loop.unroll.count"})
    if (llvm::MDNode* wish = llvm::GetUnrollMetadata(said, name)) kept.push_back(wish);
  llvm::MDNode* node = kept.size() > 1 ? llvm::MDNode::getDistinct(instruction.getContext(), kept) : nullptr;
  if (node) node->replaceOperandWith(0, node);
  instruction.setMetadata(llvm::LLVMContext::MD_loop, node);
}

void drop_liberties(llvm::Instruction& instruction) {
  if (!llvm::isa<llvm::GetElementPtrInst>(instruction)) instruction.dropPoisonGeneratingFlags();
  for (const unsigned kind : {llvm::LLVMContext::MD_range, llvm::LLVMContext::MD_noundef, llvm::LLVMContext::MD_nonnull,
                              llvm::LLVMContext::MD_tbaa, llvm::LLVMContext::MD_tbaa_struct,
                              llvm::LLVMContext::MD_invariant_load, llvm::LLVMContext::MD_fpmath})
    instruction.setMetadata(kind, nullptr);
  keep_wish_to_unroll(instruction);
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    static const llvm::AttributeMask& mask = *new llvm::AttributeMask(promises());
    call->removeRetAttrs(mask);
    for (unsigned i = 0; i < call->arg_size(); ++i) call->removeParamAttrs(i, mask);
    call->removeFnAttr(llvm::Attribute::WillReturn);
  }
}

void drop_liberties(llvm::Function& function) {
  static const llvm::AttributeMask& mask = *new llvm::AttributeMask(promises());
  if (function.isIntrinsic()) return;
  function.removeRetAttrs(mask);
  for (llvm::Argument& argument : function.args()) argument.removeAttrs(mask);
  for (const auto kind : {llvm::Attribute::MustProgress, llvm::Attribute::WillReturn, llvm::Attribute::NoSync,
                          llvm::Attribute::NoRecurse, llvm::Attribute::Speculatable, llvm::Attribute::Memory})
    function.removeFnAttr(kind);
}

/// Local variables of 16 bytes or more are aligned to 16.
void align_local(llvm::Instruction& instruction) {
  auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
  if (!local || local->getAlign() >= llvm::Align(16)) return;
  const auto size = local->getAllocationSize(instruction.getDataLayout());
  if (size && size->getFixedValue() >= 16) local->setAlignment(llvm::Align(16));
}

/// Whether other threads may act while the instruction runs.
bool lets_others_act(const llvm::Instruction& instruction) {
  if (instruction.isAtomic() || instruction.isVolatile()) return true;
  auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call) return false;
  const llvm::Function* callee = call->getCalledFunction();
  return !callee || !callee->isIntrinsic() || call->isConvergent() || callee->getName().contains("nvvm");
}

void drop_noalias(llvm::Function& function) {
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (lets_others_act(instruction)) {
      for (llvm::Argument& argument : function.args()) argument.removeAttr(llvm::Attribute::NoAlias);
      return;
    }
}

}  // namespace

void define_guards(llvm::Module& module) {
  for (llvm::Function& function : module) {
    drop_liberties(function);
    drop_noalias(function);
    llvm::SmallVector<llvm::Instruction*, 64> instructions;
    for (llvm::Instruction& instruction : llvm::instructions(function)) instructions.push_back(&instruction);
    for (llvm::Instruction* instruction : instructions) {
      drop_liberties(*instruction);
      define_every_input(*instruction);
      align_local(*instruction);
      llvm::IRBuilder<> b(instruction);
      if (Value* value = guarded(b, *instruction)) {
        instruction->replaceAllUsesWith(value);
        instruction->eraseFromParent();
      }
    }
  }
}

}  // namespace cupola::kir
