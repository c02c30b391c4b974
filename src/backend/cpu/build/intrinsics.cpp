#include "backend/cpu/build/intrinsics.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "backend/cpu/build/thread_context.h"
#include "kir/dot_product.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using image::cpu::ThreadContext;
using kir::Intrinsic;

/// Lowers one call.
class Lowering {
 public:
  Lowering(llvm::CallInst& call, uint64_t constant_bytes, uint64_t site)
      : call_(call),
        builder_(&call),
        context_(context_of(*call.getFunction())),
        constant_bytes_(constant_bytes),
        site_(site) {}

  llvm::Value* value(Intrinsic intrinsic) {
    switch (intrinsic) {
      case Intrinsic::TidX:
        return word(offsetof(ThreadContext, tid));
      case Intrinsic::TidY:
        return word(offsetof(ThreadContext, tid) + 4);
      case Intrinsic::TidZ:
        return word(offsetof(ThreadContext, tid) + 8);
      case Intrinsic::NtidX:
        return word(offsetof(ThreadContext, ntid));
      case Intrinsic::NtidY:
        return word(offsetof(ThreadContext, ntid) + 4);
      case Intrinsic::NtidZ:
        return word(offsetof(ThreadContext, ntid) + 8);
      case Intrinsic::CtaidX:
        return word(offsetof(ThreadContext, ctaid));
      case Intrinsic::CtaidY:
        return word(offsetof(ThreadContext, ctaid) + 4);
      case Intrinsic::CtaidZ:
        return word(offsetof(ThreadContext, ctaid) + 8);
      case Intrinsic::NctaidX:
        return word(offsetof(ThreadContext, nctaid));
      case Intrinsic::NctaidY:
        return word(offsetof(ThreadContext, nctaid) + 4);
      case Intrinsic::NctaidZ:
        return word(offsetof(ThreadContext, nctaid) + 8);
      case Intrinsic::LaneId:
        return word(offsetof(ThreadContext, lane));
      case Intrinsic::WarpId:
        return word(offsetof(ThreadContext, warp));
      case Intrinsic::NwarpId:
        return warps();
      case Intrinsic::SmId:
        return service(Service::multiprocessor);
      case Intrinsic::NsmId:
        return service(Service::multiprocessors);
      case Intrinsic::GridId:
        return load_field(builder_, context_, offsetof(ThreadContext, grid_id), builder_.getInt64Ty(), true);
      case Intrinsic::DynamicSharedBytes:
        return word(offsetof(ThreadContext, dynamic_shared_bytes));
      case Intrinsic::TotalSharedBytes:
        return word(offsetof(ThreadContext, total_shared_bytes));
      case Intrinsic::Clock:
        return service(Service::clock);
      case Intrinsic::GlobalTimer:
        return service(Service::global_timer);
      case Intrinsic::IsShared:
        return in_window(field(offsetof(ThreadContext, shared_window)), image::cpu::kSharedWindow);
      case Intrinsic::IsLocal:  // the context lies in the thread's own window
        return in_window(context_, image::cpu::kLocalWindow);
      case Intrinsic::IsConstant:
        return in_constants();
      case Intrinsic::Dot4:
      case Intrinsic::Dot2:
        return kir::add_products(builder_, kir::dot_product_of(call_), call_.getArgOperand(1), call_.getArgOperand(2),
                                 call_.getArgOperand(3));
      case Intrinsic::Barrier:
        return meeting(Service::barrier);
      case Intrinsic::BarrierArrive:
        return meeting(Service::barrier_arrive);
      case Intrinsic::BarrierReduce:
        return meeting(Service::barrier_reduce);
      case Intrinsic::WarpSync:
        return service(Service::warp_sync);
      case Intrinsic::Shuffle:
        return service(Service::shuffle);
      case Intrinsic::Vote:
        return service(Service::vote);
      case Intrinsic::Match:
        return service(Service::match);
      case Intrinsic::Redux:
        return service(Service::redux);
      case Intrinsic::WarpPublish:
        return service(Service::warp_publish);
      case Intrinsic::ActiveMask:
        return call_service(builder_, context_, Service::active_mask, {builder_.getInt64(site_)});
      case Intrinsic::Nanosleep:
        return service(Service::nanosleep);
      case Intrinsic::GridSync:
        return meeting(Service::grid_sync);
      case Intrinsic::GridIsCooperative:
        return service(Service::grid_is_cooperative);
      case Intrinsic::Exit:
        return service(Service::exit);
      case Intrinsic::Trap:
        return service(Service::trap);
      case Intrinsic::AssertFail:
        return service(Service::assert_fail);
      case Intrinsic::Vprintf:
        return service(Service::vprintf);
      case Intrinsic::Malloc:
        return service(Service::malloc);
      case Intrinsic::Free:
        return service(Service::free);
      case Intrinsic::DeviceCall:
        return service(Service::device_call);
      case Intrinsic::DeviceFacts:
        return service(Service::device_facts);
      case Intrinsic::LastError:
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), context_, offsetof(ThreadContext, last_error));
    }
    llvm_unreachable("an intrinsic outside the table");
  }

 private:
  llvm::Value* word(size_t offset) { return load_field(builder_, context_, offset, builder_.getInt32Ty(), true); }
  llvm::Value* field(size_t offset) { return load_field(builder_, context_, offset, builder_.getPtrTy(), true); }
  llvm::Value* number(llvm::Value* pointer) { return builder_.CreatePtrToInt(pointer, builder_.getInt64Ty()); }

  /// The service with the intrinsic's own arguments.
  llvm::Value* service(Service which) {
    llvm::SmallVector<llvm::Value*, 8> arguments(call_.args());
    return call_service(builder_, context_, which, arguments);
  }

  /// The same of one thread.
  llvm::Value* meeting(Service which) {
    llvm::SmallVector<llvm::Value*, 8> arguments(call_.args());
    arguments.push_back(builder_.getInt32(1));
    return call_service(builder_, context_, which, arguments);
  }

  llvm::Value* warps() {
    llvm::Value* threads = word(offsetof(ThreadContext, ntid));
    threads = builder_.CreateMul(threads, word(offsetof(ThreadContext, ntid) + 4));
    threads = builder_.CreateMul(threads, word(offsetof(ThreadContext, ntid) + 8));
    return builder_.CreateLShr(builder_.CreateAdd(threads, builder_.getInt32(31)), 5);
  }

  /// Windows are as aligned as they are large, so an address in the same one differs in the low bits only.
  llvm::Value* in_window(llvm::Value* inside, uint64_t size) {
    llvm::Value* difference = builder_.CreateXor(number(call_.getArgOperand(0)), number(inside));
    return builder_.CreateICmpULT(difference, builder_.getInt64(size));
  }

  llvm::Value* in_constants() {
    llvm::Value* base = number(field(offsetof(ThreadContext, module_data)));
    llvm::Value* offset = builder_.CreateSub(number(call_.getArgOperand(0)), base);
    return builder_.CreateICmpULT(offset, builder_.getInt64(constant_bytes_));
  }

  llvm::CallInst& call_;
  llvm::IRBuilder<> builder_;
  llvm::Value* context_;
  uint64_t constant_bytes_, site_;
};

void replace(llvm::CallInst& call, llvm::Value* value) {
  call.replaceAllUsesWith(value);
  call.eraseFromParent();
}

}  // namespace

void lower_address_questions(llvm::Function& function, uint64_t constant_bytes) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const std::optional<Intrinsic> intrinsic = kir::intrinsic_of(instruction);
    if (intrinsic == Intrinsic::IsShared || intrinsic == Intrinsic::IsLocal || intrinsic == Intrinsic::IsConstant)
      replace(*call, Lowering(*call, constant_bytes, 0).value(*intrinsic));
  }
}

Result<> lower_intrinsics(llvm::Module& module, uint64_t constant_bytes) {
  uint64_t site = 0;
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    const std::optional<Intrinsic> intrinsic = kir::intrinsic_of(function);
    if (!intrinsic) {
      if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
      continue;
    }
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledFunction() != &function)
        return fail(ErrorCode::NotSupported, "cpu: the address of '{}' is taken", function.getName().str());
      replace(*call, Lowering(*call, constant_bytes, ++site).value(*intrinsic));
    }
    function.eraseFromParent();
  }
  return {};
}

}  // namespace cupola::cpu::build
