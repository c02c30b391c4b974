#include "backend/cpu/build/context_parameter.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "image/cpu_abi.h"
#include "kir/c_functions.h"
#include "kir/call_reach.h"

namespace cupola::cpu::build {
namespace {

/// Attributes that speak of the GPU target, of unwinding or of inlining, which is over by now.
constexpr const char* kDroppedAttributes[] = {"target-cpu", "target-features", "frame-pointer"};

llvm::FunctionType* with_context(llvm::FunctionType* type) {
  llvm::SmallVector<llvm::Type*, 8> parameters{llvm::PointerType::get(type->getContext(), 0)};
  parameters.append(type->param_begin(), type->param_end());
  return llvm::FunctionType::get(type->getReturnType(), parameters, false);
}

llvm::AttributeList with_context(const llvm::AttributeList& list, unsigned parameters, llvm::LLVMContext& context) {
  llvm::SmallVector<llvm::AttributeSet, 8> sets{llvm::AttributeSet::get(
      context, {llvm::Attribute::get(context, llvm::Attribute::NoUndef),
                llvm::Attribute::getWithDereferenceableBytes(context, sizeof(image::cpu::ThreadContext))})};
  for (unsigned i = 0; i < parameters; ++i) sets.push_back(list.getParamAttrs(i));
  return llvm::AttributeList::get(context, list.getFnAttrs(), list.getRetAttrs(), sets);
}

/// Moves `old` into a function with the leading parameter; calls of it are rewritten by the caller.
llvm::Function* move_function(llvm::Function& old) {
  llvm::LLVMContext& context = old.getContext();
  llvm::Function* moved = llvm::Function::Create(
      with_context(old.getFunctionType()), llvm::GlobalValue::InternalLinkage, "fn." + old.getName(), old.getParent());
  moved->setAttributes(with_context(old.getAttributes(), old.arg_size(), context));
  // The context is memory that no argument points at, so claims about memory no longer hold as they were.
  moved->removeFnAttr(llvm::Attribute::Memory);
  moved->addFnAttr(llvm::Attribute::NoUnwind);
  for (const char* name : kDroppedAttributes) moved->removeFnAttr(name);
  moved->splice(moved->begin(), &old);
  moved->setSubprogram(old.getSubprogram());
  old.setSubprogram(nullptr);
  moved->getArg(0)->setName("context");
  for (unsigned i = 0; i < old.arg_size(); ++i) {
    old.getArg(i)->replaceAllUsesWith(moved->getArg(i + 1));
    moved->getArg(i + 1)->takeName(old.getArg(i));
  }
  old.replaceAllUsesWith(moved);
  return moved;
}

bool is_plain_call(const llvm::Use& use, const llvm::Function& callee) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
  return call && call->isCallee(&use) && call->getFunctionType() == callee.getFunctionType();
}

/// The address of a library function, when taken, is that of a function of ours that calls it.
void wrap_address_taken_declarations(llvm::Module& module) {
  llvm::SmallVector<llvm::Function*, 8> declared;
  for (llvm::Function& function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        llvm::any_of(function.uses(), [&](const llvm::Use& use) { return !is_plain_call(use, function); }))
      declared.push_back(&function);
  for (llvm::Function* callee : declared) {
    auto* wrapper = llvm::Function::Create(callee->getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                           "call." + callee->getName(), &module);
    callee->replaceUsesWithIf(wrapper, [&](llvm::Use& use) { return !is_plain_call(use, *callee); });
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", wrapper));
    llvm::SmallVector<llvm::Value*, 8> arguments;
    for (llvm::Argument& argument : wrapper->args()) arguments.push_back(&argument);
    llvm::Value* result = builder.CreateCall(callee, arguments);
    if (result->getType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(result);
  }
}

/// The address of a kernel, where code takes it to launch it, is that of its descriptor.
void replace_kernel_address(llvm::Function& kernel, uint64_t place) {
  const auto is_address = [&](const llvm::Use& use) { return !is_plain_call(use, kernel); };
  if (llvm::none_of(kernel.uses(), is_address)) return;
  llvm::LLVMContext& context = kernel.getContext();
  const uint64_t words[] = {image::cpu::KernelDescriptor::kMark, place};
  static_assert(sizeof words == sizeof(image::cpu::KernelDescriptor));
  llvm::Constant* content = llvm::ConstantDataArray::get(context, words);
  // Not a constant: its two words are read through its address only.
  auto* descriptor =
      new llvm::GlobalVariable(*kernel.getParent(), content->getType(), false, llvm::GlobalValue::InternalLinkage,
                               content, "kernel." + kernel.getName());
  descriptor->setAlignment(llvm::Align(alignof(image::cpu::KernelDescriptor)));
  kernel.replaceUsesWithIf(descriptor, [&](llvm::Use& use) { return is_address(use); });
}

/// Rewrites one call of a defined function or through a pointer.
void pass_context(llvm::CallInst& call) {
  llvm::IRBuilder<> builder(&call);
  llvm::Value* context = call.getFunction()->getArg(0);
  llvm::Value* callee = call.getCalledOperand();
  llvm::FunctionType* type = with_context(call.getFunctionType());
  auto* known = llvm::dyn_cast<llvm::Function>(callee);
  if (!known || known->getFunctionType() != type) {
    llvm::Value* entry = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), callee,
                                                            offsetof(image::cpu::FunctionDescriptor, scalar_entry));
    callee = builder.CreateLoad(builder.getPtrTy(), entry);
  }
  llvm::SmallVector<llvm::Value*, 8> arguments{context};
  arguments.append(call.arg_begin(), call.arg_end());
  llvm::CallInst* fresh = builder.CreateCall(type, callee, arguments);
  llvm::AttributeList attributes = with_context(call.getAttributes(), call.arg_size(), call.getContext());
  fresh->setAttributes(attributes.removeFnAttribute(call.getContext(), llvm::Attribute::Memory));
  fresh->setTailCallKind(call.getTailCallKind());
  fresh->takeName(&call);
  call.replaceAllUsesWith(fresh);
  call.eraseFromParent();
}

Result<> check_function(const llvm::Function& function) {
  if (function.isVarArg())
    return fail(ErrorCode::NotSupported, "cpu: function '{}' takes variable arguments; only printf may",
                function.getName().str());
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::InvokeInst, llvm::CallBrInst>(instruction))
      return fail(ErrorCode::NotSupported, "cpu: function '{}' uses exceptions", function.getName().str());
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm())
      return fail(ErrorCode::NotSupported, "cpu: function '{}' holds inline assembly that kir did not expand: {}",
                  function.getName().str(),
                  llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString().str());
  }
  return {};
}

}  // namespace

Result<std::vector<KernelBody>> add_context_parameter(llvm::Module& module) {
  wrap_address_taken_declarations(module);
  llvm::SmallVector<llvm::Function*, 32> defined;
  llvm::SmallVector<llvm::CallInst*, 64> calls;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    TRY(check_function(function));
    defined.push_back(&function);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call) continue;
      const llvm::Function* callee = call->getCalledFunction();
      if (!callee || !callee->isDeclaration()) calls.push_back(call);
    }
  }
  llvm::removeFromUsedLists(module, [](llvm::Constant* used) {
    const auto* function = llvm::dyn_cast<llvm::Function>(used->stripPointerCasts());
    return function && kir::is_kernel(*function);
  });
  std::vector<KernelBody> kernels;
  for (llvm::Function* function : defined) {
    const bool is_kernel = kir::is_kernel(*function);
    if (is_kernel) replace_kernel_address(*function, kernels.size());
    KernelBody kernel{kir::own_name(*function).str(), nullptr, kir::launch_bounds(*function)};
    kernel.body = move_function(*function);
    if (is_kernel) kernels.push_back(std::move(kernel));
    function->eraseFromParent();
  }
  for (llvm::CallInst* call : calls) pass_context(*call);
  return kernels;
}

}  // namespace cupola::cpu::build
