// From kir back to what LLVM's NVPTX code generator reads. Order as in prepare, without the steps that take NVVM's
// intrinsics and inline PTX apart. What the CPU takes from the C library is linked from c_library: LLVM's intrinsics
// for such functions (llvm.sin) are called by their C names first, because the code generator has approximations for
// some, and nothing for others.

#include "kir/to_nvptx.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "kir/c_functions.h"
#include "kir/c_library.h"
#include "kir/intrinsics.h"
#include "kir/kir.h"
#include "kir/lower_cupola.h"
#include "kir/passes.h"
#include "kir/refusal.h"

namespace cupola::kir {
namespace {

/// The runtime's functions for kernels, which launch others.
bool of_device_runtime(llvm::StringRef name) {
  return name.starts_with("cuda");
}

/// Externs that PTX may leave to the driver, or to the link with the device runtime.
bool provided(llvm::StringRef name) {
  return name == "vprintf" || name == "malloc" || name == "free" || name == "__assertfail" || of_device_runtime(name);
}

bool undefined(const llvm::Function& function) {
  return function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
         !provided(function.getName()) && !intrinsic_of(function);
}

/// The device library, but for its part of the runtime: GPUs have their own.
Result<> link_without_device_runtime(llvm::Module& module, std::span<const std::byte> bitcode) {
  llvm::SmallVector<std::string, 8> open;
  for (llvm::Function& function : module)
    if (function.isDeclaration() && of_device_runtime(function.getName())) open.push_back(function.getName().str());
  TRY(link_device_library(module, bitcode));
  for (const std::string& name : open)
    if (llvm::Function* function = module.getFunction(name)) function->deleteBody();
  return {};
}

/// PTX has no aliases of variables, and comdats mean nothing once all is one module.
void drop_object_file_notions(llvm::Module& module) {
  for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(module.aliases())) {
    alias.replaceAllUsesWith(alias.getAliasee());
    alias.eraseFromParent();
  }
  for (llvm::GlobalObject& object : module.global_objects()) object.setComdat(nullptr);
}

/// The functions that the module itself defines for others.
llvm::StringSet<> externals(const llvm::Module& module) {
  llvm::StringSet<> names;
  for (const llvm::Function& function : module)
    if (!function.isDeclaration() && !function.hasLocalLinkage()) names.insert(function.getName());
  return names;
}

/// Functions that came from the libraries, which each unit has for itself.
void internalize_libraries(llvm::Module& module, const llvm::StringSet<>& own) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && function.hasExternalLinkage() && !own.contains(function.getName()))
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
}

/// An approximate instruction and its .ftz form.
struct Flushing {
  llvm::Intrinsic::ID plain, flushing;
  bool of_any_type = false;  ///< an overloaded intrinsic
};
constexpr Flushing kFlushing[] = {
    {llvm::Intrinsic::nvvm_cos_approx_f, llvm::Intrinsic::nvvm_cos_approx_ftz_f},
    {llvm::Intrinsic::nvvm_div_approx_f, llvm::Intrinsic::nvvm_div_approx_ftz_f},
    {llvm::Intrinsic::nvvm_ex2_approx, llvm::Intrinsic::nvvm_ex2_approx_ftz, true},
    {llvm::Intrinsic::nvvm_lg2_approx_f, llvm::Intrinsic::nvvm_lg2_approx_ftz_f},
    {llvm::Intrinsic::nvvm_rsqrt_approx_f, llvm::Intrinsic::nvvm_rsqrt_approx_ftz_f},
    {llvm::Intrinsic::nvvm_sin_approx_f, llvm::Intrinsic::nvvm_sin_approx_ftz_f},
    {llvm::Intrinsic::nvvm_sqrt_approx_f, llvm::Intrinsic::nvvm_sqrt_approx_ftz_f},
};

/// Approximate instructions take their .ftz form where the function flushes: of the others the code generator knows.
void flush_approximations(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!says_flushing(function)) continue;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call || !call->getType()->isFloatTy()) continue;
      const auto* row = llvm::find_if(kFlushing, [&](const Flushing& f) { return f.plain == call->getIntrinsicID(); });
      if (row == std::end(kFlushing)) continue;
      llvm::IRBuilder<> b(call);
      llvm::SmallVector<llvm::Type*, 1> types;
      if (row->of_any_type) types.push_back(call->getType());
      llvm::SmallVector<llvm::Value*, 2> arguments(call->args());
      call->replaceAllUsesWith(b.CreateIntrinsic(row->flushing, types, arguments));
      call->eraseFromParent();
    }
  }
}

/// Quotients that may be wrong in the last places as div.full, which divides by all numbers: of LLVM's flag its code
/// generator would make div.approx, which gives 0 for large divisors.
void divide_in_full(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (instruction.getOpcode() != llvm::Instruction::FDiv || !may_approximate(instruction) ||
          !instruction.getType()->isFloatTy())
        continue;
      llvm::IRBuilder<> b(&instruction);
      instruction.replaceAllUsesWith(b.CreateIntrinsic(
          says_flushing(function) ? llvm::Intrinsic::nvvm_div_full_ftz : llvm::Intrinsic::nvvm_div_full, {},
          {instruction.getOperand(0), instruction.getOperand(1)}));
      instruction.eraseFromParent();
    }
}

Result<> check(const llvm::Module& module, bool externs) {
  for (const llvm::Function& function : module)
    if (undefined(function) && !externs) {
      auto* user = llvm::dyn_cast<llvm::Instruction>(function.user_back());
      return fail(ErrorCode::NotSupported, "kir: {}: '{}' is defined nowhere, so no PTX can be made that calls it",
                  user ? place_of(*user) : std::string("a variable"), demangled(function.getName()));
    }
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out))
    return fail(ErrorCode::InvalidImage, "kir: the module for PTX is malformed: {}", text);
  return {};
}

}  // namespace

Result<> to_nvptx(llvm::Module& module, const NvptxOptions& options) {
  set_aside_c_names(module);
  const llvm::StringSet<> own = options.relocatable ? externals(module) : llvm::StringSet<>();
  const auto internalize_others = [&] {
    if (options.relocatable) internalize_libraries(module, own);
    internalize(module, options.relocatable);
  };
  allow_estimates(module);
  take_approximations(module);
  TRY(link_without_device_runtime(module, options.device_library));
  internalize_others();
  define_c_functions(module);
  call_c_functions(module);
  if (llvm::any_of(module.functions(), undefined)) TRY(link_c_library(module, options.c_library));
  internalize_others();
  fold_reflect(module, options.architecture);
  remove_unreached(module);
  drop_object_file_notions(module);
  define_guards(module);
  reduce_core(module);
  TRY(lower_cupola(module));
  simplify_early(module);
  contract(module);
  simplify(module);
  flush_approximations(module);
  divide_in_full(module);
  TRY(restore_own_names(module));
  return check(module, options.relocatable || options.externs);
}

}  // namespace cupola::kir
