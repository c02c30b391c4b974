#include "backend/cpu/build/shared_memory.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "backend/cpu/build/thread_context.h"
#include "kir/address_space.h"
#include "kir/core_intrinsics.h"

namespace cupola::cpu::build {
namespace {

using kir::kSharedSpace;

bool is_shared(const llvm::Value* pointer) {
  return pointer->getType()->isPointerTy() && pointer->getType()->getPointerAddressSpace() == kSharedSpace;
}

/// Lowers one function.
class Lowering {
 public:
  Lowering(llvm::Function& function, const kir::SharedLayout& layout) : function_(function), layout_(layout) {}

  Result<> run() {
    llvm::SmallVector<llvm::Instruction*, 64> work;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) work.push_back(&instruction);
    for (llvm::Instruction* instruction : work) replace_variables(*instruction);
    for (llvm::Instruction* instruction : work) TRY(lower(*instruction));
    return {};
  }

 private:
  void replace_variables(llvm::Instruction& instruction) {
    for (llvm::Use& operand : instruction.operands()) {
      auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(operand.get());
      if (variable && is_shared(variable)) operand.set(address_of(*variable));
    }
  }

  llvm::Value* address_of(llvm::GlobalVariable& variable) {
    llvm::Value*& address = addresses_[&variable];
    if (address) return address;
    llvm::IRBuilder<> builder(&function_.getEntryBlock(), function_.getEntryBlock().getFirstInsertionPt());
    llvm::Value* offset;
    if (auto place = layout_.offsets.find(&variable); place != layout_.offsets.end())
      offset = builder.getInt64(place->second);
    else
      offset = builder.CreateZExt(
          load_field(builder, context_of(function_), offsetof(image::cpu::ThreadContext, dynamic_shared_offset),
                     builder.getInt32Ty(), true),
          builder.getInt64Ty());
    address = builder.CreateIntToPtr(offset, variable.getType());
    return address;
  }

  llvm::Value* window() {
    if (window_) return window_;
    llvm::IRBuilder<> builder(&function_.getEntryBlock(), function_.getEntryBlock().getFirstInsertionPt());
    window_ = load_field(builder, context_of(function_), offsetof(image::cpu::ThreadContext, shared_window),
                         builder.getPtrTy(), true);
    return window_;
  }

  llvm::Value* generic(llvm::IRBuilder<>& builder, llvm::Value* shared) {
    return builder.CreateGEP(builder.getInt8Ty(), window(), builder.CreatePtrToInt(shared, builder.getInt64Ty()));
  }

  void rebase(llvm::Instruction& instruction, unsigned operand) {
    if (!is_shared(instruction.getOperand(operand))) return;
    llvm::IRBuilder<> builder(&instruction);
    instruction.setOperand(operand, generic(builder, instruction.getOperand(operand)));
  }

  Result<> lower(llvm::Instruction& instruction) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      rebase(*load, load->getPointerOperandIndex());
    else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      rebase(*store, store->getPointerOperandIndex());
    else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      rebase(*update, update->getPointerOperandIndex());
    else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
      rebase(*exchange, exchange->getPointerOperandIndex());
    else if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction))
      return lower_cast(*cast);
    else if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
      return lower_intrinsic(*call);
    return {};
  }

  Result<> lower_cast(llvm::AddrSpaceCastInst& cast) {
    const bool from = cast.getSrcTy()->getPointerAddressSpace() == kSharedSpace;
    const bool to = cast.getDestTy()->getPointerAddressSpace() == kSharedSpace;
    if (from == to) return {};
    if (!cast.getType()->isPointerTy()) return refuse("a cast of a vector of shared pointers");
    llvm::IRBuilder<> builder(&cast);
    llvm::Value* result;
    if (from) {
      result = builder.CreateAddrSpaceCast(generic(builder, cast.getOperand(0)), cast.getType());
    } else {
      llvm::Value* address = builder.CreatePtrToInt(cast.getOperand(0), builder.getInt64Ty());
      llvm::Value* base = builder.CreatePtrToInt(window(), builder.getInt64Ty());
      result = builder.CreateIntToPtr(builder.CreateSub(address, base), cast.getType());
    }
    cast.replaceAllUsesWith(result);
    cast.eraseFromParent();
    return {};
  }

  Result<> lower_intrinsic(llvm::IntrinsicInst& call) {
    if (llvm::none_of(call.args(), [](const llvm::Use& use) { return is_shared(use.get()); })) return {};
    const auto group = kir::core_class_of(call.getIntrinsicID());
    if (!group) return refuse(call.getCalledFunction()->getName().str() + " on shared memory");
    switch (*group) {
      case kir::CoreClass::kMemory:
        return rebase_call(call);
      case kir::CoreClass::kHint:
        call.eraseFromParent();
        return {};
      case kir::CoreClass::kPointer:  // the window is aligned, so that low bits of offsets are those of addresses
        return {};
      case kir::CoreClass::kFloat:
      case kir::CoreClass::kInteger:
      case kir::CoreClass::kReduction:
      case kir::CoreClass::kStack:
        return refuse(call.getCalledFunction()->getName().str() + " on a shared pointer");
    }
    llvm_unreachable("a class outside the table");
  }

  /// The intrinsic's name carries the pointers' address spaces, so the call is made anew.
  Result<> rebase_call(llvm::IntrinsicInst& call) {
    llvm::IRBuilder<> builder(&call);
    llvm::SmallVector<llvm::Value*, 4> arguments;
    for (llvm::Value* argument : call.args())
      arguments.push_back(is_shared(argument) ? generic(builder, argument) : argument);
    llvm::SmallVector<llvm::Type*, 3> overloads{arguments[0]->getType()};
    if (!llvm::isa<llvm::AnyMemSetInst>(call)) overloads.push_back(arguments[1]->getType());
    overloads.push_back(arguments[2]->getType());
    llvm::CallInst* fresh = builder.CreateIntrinsic(call.getIntrinsicID(), overloads, arguments);
    fresh->setAttributes(call.getAttributes());
    call.eraseFromParent();
    return {};
  }

  Result<> refuse(const std::string& what) const {
    return fail(ErrorCode::NotSupported, "cpu: function '{}' uses {}", function_.getName().str(), what);
  }

  llvm::Function& function_;
  const kir::SharedLayout& layout_;
  llvm::Value* window_ = nullptr;
  llvm::DenseMap<llvm::GlobalVariable*, llvm::Value*> addresses_;
};

/// Of a function.
constexpr const char* kAlignment = "cupola-shared-alignment";

}  // namespace

Result<> lower_shared(llvm::Module& module, const kir::SharedLayout& layout) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) TRY(Lowering(function, layout).run());
  llvm::SmallVector<llvm::GlobalVariable*, 16> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (is_shared(&variable)) variables.push_back(&variable);
  for (llvm::GlobalVariable* variable : variables) {
    variable->removeDeadConstantUsers();
    variable->replaceAllUsesWith(llvm::PoisonValue::get(variable->getType()));  // debug metadata
    variable->eraseFromParent();
  }
  for (const auto& [kernel, alignment] : layout.alignments)
    module.getFunction(kernel->getName())->addFnAttr(kAlignment, std::to_string(alignment));
  return {};
}

uint64_t shared_alignment(const llvm::Function& code) {
  return code.getFnAttributeAsParsedInteger(kAlignment, 1);
}

}  // namespace cupola::cpu::build
