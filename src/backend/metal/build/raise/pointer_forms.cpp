#include "backend/metal/build/raise/pointer_forms.h"

#include <llvm/IR/Constants.h>

#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/spaces.h"
#include "kir/address_space.h"

namespace cupola::metal::build {
namespace {

Form form_of(Memories memories) {
  if (memories == kInShared || memories == kInStack) return form_in(memories);
  return (memories & (kInShared | kInStack)) == 0 ? Form::Device : Form::Number;
}

}  // namespace

Form form_in(Memories memory) {
  return memory == kInShared ? Form::Shared : memory == kInStack ? Form::Stack : Form::Device;
}

Form form_of(const llvm::Type* type) {
  if (!type->isPointerTy()) return Form::Number;
  switch (type->getPointerAddressSpace()) {
    case kThread:
      return Form::Stack;
    case kThreadgroup:
      return Form::Shared;
    case kConstant:
      return Form::Constant;
    default:
      return Form::Device;
  }
}

llvm::Type* type_of(Form form, llvm::LLVMContext& context) {
  switch (form) {
    case Form::Device:
      return llvm::PointerType::get(context, kDevice);
    case Form::Constant:
      return llvm::PointerType::get(context, kConstant);
    case Form::Shared:
      return llvm::PointerType::get(context, kThreadgroup);
    case Form::Stack:
      return llvm::PointerType::get(context, kThread);
    case Form::Number:
      return llvm::Type::getInt64Ty(context);
  }
}

llvm::Value* number_of(llvm::IRBuilderBase& b, llvm::Value* value, Form form) {
  switch (form) {
    case Form::Device:
      return call(b, MetalIntrinsic::ToHost, {value});
    case Form::Shared:
      return b.CreateOr(b.CreateZExt(call(b, MetalIntrinsic::SharedOffset, {value}), b.getInt64Ty()),
                        b.getInt64(kSharedWindow));
    case Form::Stack:
      return b.CreateOr(b.CreateZExt(call(b, MetalIntrinsic::StackOffset, {value}), b.getInt64Ty()),
                        b.getInt64(kLocalWindow));
    case Form::Constant:  // the parameter block has no address: what would need one is copied first
    case Form::Number:
      return value;
  }
}

llvm::Value* from_number(llvm::IRBuilderBase& b, llvm::Value* number, Form form) {
  switch (form) {
    case Form::Device:
      return call(b, MetalIntrinsic::FromHost, {number});
    case Form::Shared:
      return call(b, MetalIntrinsic::SharedAt, {b.CreateTrunc(number, b.getInt32Ty())});
    case Form::Stack:
      return call(b, MetalIntrinsic::StackAt, {b.CreateTrunc(number, b.getInt32Ty())});
    case Form::Constant:
    case Form::Number:
      return number;
  }
}

llvm::Value* in_window(llvm::IRBuilderBase& b, llvm::Value* number, uint64_t window) {
  return b.CreateICmpULT(b.CreateSub(number, b.getInt64(window)), b.getInt64(kWindowBytes));
}

bool is_offset(const llvm::Type* type) {
  return type->getPointerAddressSpace() == kir::kSharedSpace || type->getPointerAddressSpace() == kir::kLocalSpace;
}

Form HeldPointers::form(const llvm::Value* pointer) const {
  return pointer->getType()->getPointerAddressSpace() == kConstant ? Form::Constant : form_of(spaces_.of(pointer));
}

Form HeldPointers::form_of_result(const llvm::Function& function) const {
  const llvm::Type* type = function.getReturnType();
  return is_offset(type) ? form_in(type->getPointerAddressSpace() == kir::kSharedSpace ? kInShared : kInStack)
                         : form_of(spaces_.of_result(function));
}

llvm::Value* HeldPointers::value(llvm::IRBuilderBase& b, llvm::Value* pointer, Form wanted) const {
  if (llvm::isa<llvm::UndefValue>(pointer)) return llvm::PoisonValue::get(type_of(wanted, b.getContext()));
  if (llvm::isa<llvm::ConstantPointerNull>(pointer)) return from_number(b, b.getInt64(0), wanted);
  if (auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(pointer)) {
    if (expression->getOpcode() == llvm::Instruction::AddrSpaceCast) return value(b, expression->getOperand(0), wanted);
    if (expression->getOpcode() == llvm::Instruction::IntToPtr)
      return from_number(b, b.CreateZExtOrTrunc(expression->getOperand(0), b.getInt64Ty()), wanted);
  }
  const Form form_held = form(pointer);
  llvm::Value* known = held(pointer);
  if (!known) known = pointer;  // of a space already: the launch's
  if (form_held == wanted) return known;
  return from_number(b, number_of(b, known, form_held), wanted);
}

llvm::Value* HeldPointers::as_integer(llvm::IRBuilderBase& b, llvm::Value* pointer, llvm::Type* type) const {
  if (!is_offset(pointer->getType())) return b.CreateZExtOrTrunc(number(b, pointer), type);
  const bool shared = pointer->getType()->getPointerAddressSpace() == kir::kSharedSpace;
  const MetalIntrinsic offset = shared ? MetalIntrinsic::SharedOffset : MetalIntrinsic::StackOffset;
  return b.CreateZExtOrTrunc(call(b, offset, {value(b, pointer)}), type);
}

}  // namespace cupola::metal::build
