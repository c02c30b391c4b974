#include "backend/metal/build/raise/pointer_calls.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/pointer_forms.h"
#include "backend/metal/build/raise/spaces.h"
#include "kir/intrinsics.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

constexpr uint64_t kWarpLanes = 32;

/// clang and our PTX reader lay the values out in a variable of their own, whose size says how long they are; what
/// printf returns is their number.
llvm::Value* print(const HeldPointers& pointers, llvm::IRBuilder<>& b, llvm::CallInst& vprintf) {
  const llvm::DataLayout& layout = vprintf.getModule()->getDataLayout();
  llvm::Value* values = vprintf.getArgOperand(1);
  uint64_t bytes = 0, count = 0;
  if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(values))) {
    if (const auto size = local->getAllocationSize(layout)) bytes = size->getFixedValue();
    llvm::Type* type = local->getAllocatedType();
    count = type->isStructTy() ? type->getStructNumElements() : (bytes + 7) / 8;
  }
  call(b, MetalIntrinsic::Print,
       {pointers.number(b, vprintf.getArgOperand(0)),
        bytes ? pointers.value(b, values, Form::Stack) : llvm::ConstantPointerNull::get(b.getPtrTy(kThread)),
        b.getInt32(static_cast<uint32_t>(bytes))});
  return b.getInt32(static_cast<uint32_t>(count));
}

/// Each thread has a copy of all lanes' words.
Result<> publish(HeldPointers& pointers, llvm::IRBuilder<>& b, llvm::CallInst& words) {
  const auto* count = llvm::dyn_cast<llvm::ConstantInt>(words.getArgOperand(1));
  if (!count)
    return fail(ErrorCode::NotSupported, "metal: {}: '{}' of a number of words that varies is not supported",
                kir::place_of(words), kir::name_of(kir::Intrinsic::WarpPublish).str());
  llvm::IRBuilder<> entry(&*words.getFunction()->getEntryBlock().getFirstInsertionPt());
  llvm::AllocaInst* all = entry.CreateAlloca(llvm::ArrayType::get(b.getInt32Ty(), kWarpLanes * count->getZExtValue()));
  call(b, MetalIntrinsic::Publish,
       {pointers.value(b, words.getArgOperand(0), Form::Stack), all, words.getArgOperand(1)});
  pointers.hold(&words, all);
  return {};
}

llvm::Value* lies_in(const HeldPointers& pointers, llvm::IRBuilder<>& b, llvm::Value* pointer, Form which,
                     uint64_t window) {
  const Form held = pointers.form(pointer);
  return held == Form::Number ? in_window(b, pointers.number(b, pointer), window) : b.getInt1(held == which);
}

llvm::Value* is_constant(const HeldPointers& pointers, llvm::IRBuilder<>& b, llvm::Value* pointer, uint64_t bytes) {
  llvm::Value* data = number_of(b, call(b, MetalIntrinsic::ModuleData), Form::Device);
  return b.CreateICmpULT(b.CreateSub(pointers.number(b, pointer), data), b.getInt64(bytes));
}

void assert_failed(const HeldPointers& pointers, llvm::IRBuilder<>& b, llvm::CallInst& failure) {
  llvm::SmallVector<llvm::Value*, 4> words;
  for (llvm::Value* argument : failure.args())
    words.push_back(argument->getType()->isPointerTy() ? pointers.number(b, argument) : argument);
  call(b, MetalIntrinsic::AssertFailed, words);
}

bool has_pointers(const llvm::CallInst& call) {
  return call.getType()->isPointerTy() ||
         llvm::any_of(call.args(), [](const llvm::Value* argument) { return argument->getType()->isPointerTy(); });
}

}  // namespace

Result<bool> rewrite_kir_call(HeldPointers& pointers, llvm::CallInst& call, uint64_t constant_bytes) {
  llvm::IRBuilder<> b(&call);
  const kir::Intrinsic which = *kir::intrinsic_of(call);
  switch (which) {
    case kir::Intrinsic::IsShared:
      call.replaceAllUsesWith(lies_in(pointers, b, call.getArgOperand(0), Form::Shared, kSharedWindow));
      return true;
    case kir::Intrinsic::IsLocal:
      call.replaceAllUsesWith(lies_in(pointers, b, call.getArgOperand(0), Form::Stack, kLocalWindow));
      return true;
    case kir::Intrinsic::IsConstant:
      call.replaceAllUsesWith(is_constant(pointers, b, call.getArgOperand(0), constant_bytes));
      return true;
    case kir::Intrinsic::AssertFail:
      assert_failed(pointers, b, call);
      return true;
    case kir::Intrinsic::Vprintf:
      call.replaceAllUsesWith(print(pointers, b, call));
      return true;
    case kir::Intrinsic::WarpPublish:
      TRY(publish(pointers, b, call));
      return true;
    case kir::Intrinsic::Malloc:
    case kir::Intrinsic::Free:
    case kir::Intrinsic::DeviceCall:
    case kir::Intrinsic::DeviceFacts:
    case kir::Intrinsic::LastError:
      return fail(ErrorCode::NotSupported,
                  "metal: {}: kernels on the metal device can neither allocate memory, launch kernels nor ask the "
                  "runtime: do it on the host",
                  kir::place_of(call));
    default:  // of numbers
      break;
  }
  if (has_pointers(call))
    return fail(ErrorCode::NotSupported, "metal: {}: '{}' is not supported yet", kir::place_of(call),
                kir::name_of(which).str());
  return false;
}

}  // namespace cupola::metal::build
