// The steps: the library of meanings is linked; functions get their thread as an argument, kernels Metal's arguments;
// what AIR does not have gives way (lower_instructions.h); the library's functions are inlined; each kernel becomes a
// module of its own, which says what it is.

#include "backend/metal/build/air/print_air.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/DeadArgumentElimination.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "backend/metal/build/air/air_functions.h"
#include "backend/metal/build/air/kernel_metadata.h"
#include "backend/metal/build/air/lower_core.h"
#include "backend/metal/build/air/lower_instructions.h"
#include "backend/metal/build/raise/refusals.h"
#include "base/format.h"

namespace cupola::metal::build {
namespace {

constexpr char kLayout[] =
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-"
    "v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32";

constexpr AirVersion kVersion = {13, {2, 5}, {3, 0}};
constexpr AirVersion kVersionWithFences = {15, {2, 7}, {3, 2}};  ///< the first with fences outside of barriers

uint32_t language_of(const AirVersion& version) {
  return version.language[0] * 10 + version.language[1];
}

/// All of the library, for calls to find it; what is not called goes with GlobalDCE.
Result<> link_meanings(llvm::Module& module, std::span<const std::byte> library) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(library.data()), library.size());
  llvm::Expected<std::unique_ptr<llvm::Module>> meanings =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "air.bc"), module.getContext());
  if (!meanings)
    return fail(ErrorCode::InvalidImage, "metal: the library of AIR cannot be read: {}",
                llvm::toString(meanings.takeError()));
  for (llvm::NamedMDNode& named : llvm::make_early_inc_range((*meanings)->named_metadata())) named.eraseFromParent();
  (*meanings)->setDataLayout(module.getDataLayout());
  (*meanings)->setTargetTriple(module.getTargetTriple());
  std::vector<std::string> names;
  for (llvm::Function& function : **meanings)
    if (!function.isDeclaration()) {
      function.setAttributes({});
      function.setConvergent();
      function.addFnAttr(llvm::Attribute::AlwaysInline);
      names.push_back(function.getName().str());
    }
  if (llvm::Linker::linkModules(module, std::move(*meanings)))
    return fail(ErrorCode::InvalidImage, "metal: the library of AIR cannot be linked");
  for (const std::string& name : names)
    if (llvm::Function* function = module.getFunction(name)) {
      function->setLinkage(llvm::Function::InternalLinkage);
      function->setDSOLocal(true);
    }
  return {};
}

/// A new function with the old one's code and name.
llvm::Function* with_code_of(llvm::Function& old, llvm::FunctionType* type, llvm::Function::LinkageTypes linkage) {
  llvm::Function* made = llvm::Function::Create(type, linkage, "", old.getParent());
  made->takeName(&old);
  made->setCallingConv(old.getCallingConv());
  made->splice(made->begin(), &old);
  made->setSubprogram(old.getSubprogram());
  made->setDoesNotThrow();
  if (old.isConvergent()) made->setConvergent();
  return made;
}

/// A program's function, with its thread in front of its own parameters; returns it.
llvm::Function* take_thread(llvm::Function& old) {
  llvm::SmallVector<llvm::Type*, 8> types = {llvm::PointerType::get(old.getContext(), 0)};
  types.append(old.getFunctionType()->param_begin(), old.getFunctionType()->param_end());
  llvm::Function* made =
      with_code_of(old, llvm::FunctionType::get(old.getReturnType(), types, false), llvm::Function::InternalLinkage);
  for (llvm::Argument& argument : old.args()) argument.replaceAllUsesWith(made->getArg(argument.getArgNo() + 1));
  return made;
}

struct KernelCode {
  llvm::Function* function;
  llvm::Value* thread;
};

/// The kernel with Metal's arguments, which first fills its Thread in.
KernelCode take_arguments(const RaisedKernel& kernel) {
  llvm::Function& old = *kernel.code;
  llvm::Module& module = *old.getParent();
  llvm::LLVMContext& context = module.getContext();
  llvm::Function* made = with_code_of(old, kernel_type(context), llvm::Function::ExternalLinkage);
  llvm::IRBuilder<> b(&made->getEntryBlock(), made->getEntryBlock().begin());
  llvm::AllocaInst* thread = b.CreateAlloca(llvm::StructType::getTypeByName(context, "struct.Thread"));
  llvm::Value* stack = llvm::ConstantPointerNull::get(b.getPtrTy());
  if (kernel.stack_bytes != 0) {
    llvm::AllocaInst* room = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), kernel.stack_bytes));
    room->setAlignment(llvm::Align(16));
    stack = room;
  }
  llvm::SmallVector<llvm::Value*, 24> values = {thread};
  for (const unsigned i : {kParameters, kLaunch, kShared, kWords}) values.push_back(made->getArg(i));
  values.push_back(stack);
  for (const unsigned i : {kTid, kNtid, kCtaid, kNctaid})
    for (const uint64_t dimension : {0, 1, 2}) values.push_back(b.CreateExtractElement(made->getArg(i), dimension));
  for (const unsigned i : {kLane, kWarp, kWarps}) values.push_back(made->getArg(i));
  b.CreateCall(LowerCore::meaning(module, "begin"), values);
  return {made, thread};
}

/// Calls of functions that now take a thread.
void pass_threads(const llvm::DenseMap<llvm::Function*, llvm::Function*>& taken, llvm::Function& caller,
                  llvm::Value& thread) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(caller))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    llvm::Function* made = call && call->getCalledFunction() ? taken.lookup(call->getCalledFunction()) : nullptr;
    if (!made) continue;
    llvm::SmallVector<llvm::Value*, 8> arguments = {&thread};
    arguments.append(call->arg_begin(), call->arg_end());
    llvm::CallInst* replaced = llvm::CallInst::Create(made, arguments, "", call->getIterator());
    replaced->setCallingConv(made->getCallingConv());
    replaced->setDebugLoc(call->getDebugLoc());
    call->replaceAllUsesWith(replaced);
    call->eraseFromParent();
  }
}

/// The library's functions and the Thread dissolve. No pass here makes calls or types that AIR does not have.
void simplify(llvm::Module& module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const auto each = [] {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::InstSimplifyPass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::InstSimplifyPass());
    passes.addPass(llvm::ADCEPass());
    return llvm::createModuleToFunctionPassAdaptor(std::move(passes));
  };
  llvm::ModulePassManager all;
  all.addPass(llvm::AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
  all.addPass(llvm::GlobalDCEPass());
  all.addPass(each());
  all.addPass(llvm::DeadArgumentEliminationPass());  // threads that nobody asks
  all.addPass(each());
  all.addPass(llvm::GlobalDCEPass());
  all.run(module, modules);
}

Result<> check(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out))
    return fail(ErrorCode::InvalidImage, "metal: the module for AIR is not valid: {}", text);
  return {};
}

/// Names that the program's cannot take from AIR's functions and ours.
void name_for_metal(llvm::Module& module, std::span<const RaisedKernel> kernels) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.setCallingConv(llvm::CallingConv::C);
    if (function.hasLocalLinkage()) function.setName("function_" + function.getName());
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) call->setCallingConv(llvm::CallingConv::C);
  }
  for (const RaisedKernel& kernel : kernels)
    if (kernel.code) kernel.code->setName(kernel.entry);
}

/// The module with one kernel and what that calls.
std::unique_ptr<llvm::Module> alone(const llvm::Module& module, const llvm::Function& kernel) {
  llvm::ValueToValueMapTy map;
  std::unique_ptr<llvm::Module> made = llvm::CloneModule(
      module, map, [&](const llvm::GlobalValue* value) { return value == &kernel || value->hasLocalLinkage(); });
  llvm::ModuleAnalysisManager analyses;
  llvm::PassBuilder().registerModuleAnalyses(analyses);
  llvm::GlobalDCEPass().run(*made, analyses);
  return made;
}

}  // namespace

Result<AirModules> print_air(Raised& raised, std::span<const std::byte> library, uint32_t newest) {
  llvm::Module& module = *raised.module;
  module.setDataLayout(kLayout);
  std::vector<llvm::Function*> own;
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) own.push_back(&function);
  TRY(link_meanings(module, library));

  std::vector<KernelCode> kernels, functions;
  for (RaisedKernel& kernel : raised.kernels) {
    if (!kernel.code) continue;
    kernels.push_back(take_arguments(kernel));
    std::erase(own, kernel.code);
    kernel.code->eraseFromParent();
    kernel.code = kernels.back().function;
  }
  llvm::DenseMap<llvm::Function*, llvm::Function*> taken;
  for (llvm::Function* old : own) {
    llvm::Function* made = taken[old] = take_thread(*old);
    functions.push_back({made, made->getArg(0)});
  }
  functions.insert(functions.end(), kernels.begin(), kernels.end());
  for (const KernelCode& code : functions) pass_threads(taken, *code.function, *code.thread);
  for (llvm::Function* old : own) old->eraseFromParent();
  Refusals refusals;
  for (const KernelCode& code : functions)
    if (const Result<> lowered = lower_instructions(*code.function, *code.thread); !lowered)
      refusals[code.function] = lowered.error();
  refuse(raised, refusals);
  TRY(check(module));
  simplify(module);
  TRY(settle_declarations(module));  // what refuses is done: names may change now
  name_for_metal(module, raised.kernels);

  AirModules made;
  const AirVersion* version = &kVersion;
  for (RaisedKernel& kernel : raised.kernels) {
    if (!kernel.code) continue;
    std::unique_ptr<llvm::Module> one = alone(module, *kernel.code);
    if (one->getFunction("air.atomic.fence")) {
      if (const uint32_t needed = language_of(kVersionWithFences); needed > newest) {
        kernel = {
            .info = {.name = kernel.info.name}, .entry = {}, .code = nullptr, .refusal = needs_newer(needed, newest)};
        continue;
      }
      version = &kVersionWithFences;
    }
    made.kernels.push_back({kernel.entry, std::move(one)});
  }
  made.macos = version->macos;
  made.msl_version = language_of(*version);
  for (const AirKernel& kernel : made.kernels)
    describe(*kernel.module, *kernel.module->getFunction(kernel.entry), *version);
  return made;
}

void leave_note(llvm::Module& module, const std::string& name, std::span<const std::byte> bytes) {
  llvm::LLVMContext& context = module.getContext();
  const llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  module.getOrInsertNamedMetadata(name)->addOperand(llvm::MDNode::get(context, llvm::MDString::get(context, text)));
}

}  // namespace cupola::metal::build
