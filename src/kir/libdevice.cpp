// libdevice.bc is the device library (src/device) closed over the C library (c_library.bc) and with CUDA's meaning
// written out, as in to_nvptx: shifts clamp, conversions saturate, multiply-add is contracted here once. What a program
// decides (flushing of denormals) stays open as a call of __nvvm_reflect, whose answer is a constant
// where the program is compiled; the code that it leaves out then goes.

#include "kir/libdevice.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/IPO/FunctionAttrs.h>

#include "kir/c_library.h"
#include "kir/core_intrinsics.h"
#include "kir/diagnostics.h"
#include "kir/expansion.h"
#include "kir/nvvm_ir.h"
#include "kir/pass_analyses.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

constexpr char kReflect[] = "__nvvm_reflect";

Result<> keep_listed(llvm::Module& module, std::span<const LibdeviceFunction> functions) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) function.setLinkage(llvm::GlobalValue::InternalLinkage);
  for (const LibdeviceFunction& listed : functions) {
    llvm::Function* function = module.getFunction(listed.name);
    if (!function || function->isDeclaration())
      return fail(ErrorCode::NotSupported, "libdevice: '{}' is defined nowhere", listed.name);
    function->setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
  remove_unreached(module);
  return {};
}

/// i1: whether the program that is being compiled flushes denormals.
llvm::Value* asks_to_flush(llvm::IRBuilder<>& b, llvm::Module& module) {
  llvm::FunctionCallee reflect = module.getOrInsertFunction(kReflect, b.getInt32Ty(), b.getPtrTy());
  llvm::GlobalVariable* question = module.getNamedGlobal("ask_flush");
  if (!question) {
    question = b.CreateGlobalString("__CUDA_FTZ", "ask_flush", /*AddressSpace=*/4, &module);
    question->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  llvm::Value* generic = llvm::ConstantExpr::getAddrSpaceCast(question, b.getPtrTy());
  return b.CreateIsNotNull(b.CreateCall(reflect, generic), "flushes");
}

/// Flushes the function's float arguments at its entry and its float result at its ends, where the program asks for it.
void flush_at_the_ends(llvm::Function& function) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  llvm::Value* asks = asks_to_flush(b, *function.getParent());
  for (llvm::Argument& argument : function.args()) {
    if (!argument.getType()->isFloatTy() || argument.use_empty()) continue;
    llvm::SmallVector<llvm::Use*, 8> uses;
    for (llvm::Use& use : argument.uses()) uses.push_back(&use);
    llvm::Value* flushed = b.CreateSelect(asks, flush(b, &argument), &argument);
    for (llvm::Use* use : uses) use->set(flushed);
  }
  if (!function.getReturnType()->isFloatTy()) return;
  for (llvm::BasicBlock& block : function)
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) {
      b.SetInsertPoint(end);
      llvm::Value* result = end->getReturnValue();
      end->setOperand(0, b.CreateSelect(asks, flush(b, result), result));
    }
}

/// What tells of where the code came from, and what would clash with a program's.
void drop_origins(llvm::Module& module) {
  for (llvm::NamedMDNode& node : llvm::make_early_inc_range(module.named_metadata())) node.eraseFromParent();
  module.setModuleIdentifier("libdevice");
  module.setSourceFileName("libdevice");
  for (llvm::GlobalVariable& variable : module.globals()) {  // tables of constants, all of them
    variable.setComdat(nullptr);
    variable.setLinkage(llvm::GlobalValue::InternalLinkage);
    variable.setExternallyInitialized(false);
  }
  for (llvm::Function& function : module) {
    function.setComdat(nullptr);
    function.setSection("");
    llvm::AttributeMask words;  // target-cpu, denormal-fp-math-f32 and so on: where they differ nothing is inlined
    for (const llvm::Attribute attribute : function.getAttributes().getFnAttrs())
      if (attribute.isStringAttribute()) words.addAttribute(attribute.getKindAsString());
    function.removeFnAttrs(words);
  }
}

/// What clang says of every function for GPUs, such as that it may hold a barrier; none of these does.
void drop_caution(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isIntrinsic()) continue;
    const bool alone = function.hasFnAttribute(llvm::Attribute::NoInline);
    llvm::AttributeList kept = function.getAttributes().removeFnAttributes(module.getContext());
    function.setAttributes(kept);
    function.setDoesNotThrow();
    if (alone) function.addFnAttr(llvm::Attribute::NoInline);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->setAttributes(call->getAttributes().removeFnAttributes(module.getContext()));
  }
  if (llvm::Function* reflect = module.getFunction(kReflect)) {
    reflect->setDoesNotAccessMemory();
    reflect->setDoesNotThrow();
    reflect->setWillReturn();
  }
}

/// Assumptions would make functions that touch no memory look as if they did.
void drop_assumptions(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (llvm::isa<llvm::AssumeInst>(instruction)) instruction.eraseFromParent();
}

/// Which functions touch no memory, always return and so on: so that programs' compilers may move and merge calls.
void infer_attributes(llvm::Module& module) {
  PassAnalyses analyses;
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(llvm::PostOrderFunctionAttrsPass()));
  passes.run(module, analyses.modules);
}

Result<> check(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.use_empty() || function.getName() == kReflect) continue;
    const bool known = function.isIntrinsic() &&
                       (core_class_of(function.getIntrinsicID()) || function.getName().starts_with("llvm.nvvm."));
    if (!known)
      return fail(ErrorCode::NotSupported, "libdevice: '{}' is defined nowhere, and no code generator lowers it",
                  function.getName().str());
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out)) return fail(ErrorCode::InvalidImage, "libdevice: malformed: {}", text);
  return {};
}

}  // namespace

Result<> to_libdevice(llvm::Module& module, std::span<const LibdeviceFunction> functions,
                      std::span<const std::byte> c_library) {
  collect_diagnostics(module.getContext());
  TRY(keep_listed(module, functions));
  for (const LibdeviceFunction& listed : functions)
    if (listed.flushes) flush_at_the_ends(*module.getFunction(listed.name));
  call_c_functions(module);
  TRY(link_c_library(module, c_library));
  TRY(keep_listed(module, functions));
  define_guards(module);
  reduce_core(module);
  drop_origins(module);
  drop_assumptions(module);
  simplify_early(module);
  contract(module);
  simplify(module);
  drop_caution(module);
  infer_attributes(module);
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) function.addFnAttr(kLibdevice);
  return check(module);
}

}  // namespace cupola::kir
