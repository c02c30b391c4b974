// From kir back to what LLVM's NVPTX code generator reads. Order as in prepare, without the steps that take NVVM's
// intrinsics and inline PTX apart. What the CPU takes from the C library is linked from c_library: LLVM's intrinsics
// for such functions (llvm.sin) are called by their C names first, because the code generator has approximations for
// some, and nothing for others.

#include "kir/to_nvptx.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "kir/expansion.h"
#include "kir/intrinsics.h"
#include "kir/kir.h"
#include "kir/lower_cupola.h"
#include "kir/math_calls.h"
#include "kir/passes.h"
#include "kir/refusal.h"

namespace cupola::kir {
namespace {

void call_c_functions(llvm::Module& module) {
  llvm::SmallVector<llvm::Instruction*, 16> instructions;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (instruction.getOpcode() == llvm::Instruction::FRem || (call && c_name(call->getIntrinsicID())))
        instructions.push_back(&instruction);
    }
  for (llvm::Instruction* instruction : instructions) {
    llvm::IRBuilder<> b(instruction);
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction);
    llvm::SmallVector<llvm::Value*, 2> arguments;
    for (unsigned i = 0; i < (call ? call->arg_size() : 2); ++i) arguments.push_back(instruction->getOperand(i));
    instruction->replaceAllUsesWith(
        call_elements(b, module, call ? c_name(call->getIntrinsicID()) : "fmod", instruction->getType(), arguments));
    instruction->eraseFromParent();
  }
}

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

/// libclc converts NaNs to integers and takes the result as an index of a table; what it expects is 0.
void convert_nan_to_zero(llvm::Function& function) {
  llvm::SmallVector<llvm::Instruction*, 8> conversions;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction)) conversions.push_back(&instruction);
  for (llvm::Instruction* conversion : conversions) {
    llvm::IRBuilder<> b(conversion);
    const auto id = llvm::isa<llvm::FPToSIInst>(conversion) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    llvm::Value* value = conversion->getOperand(0);
    conversion->replaceAllUsesWith(b.CreateIntrinsic(id, {conversion->getType(), value->getType()}, {value}));
    conversion->eraseFromParent();
  }
}

/// Links the functions of the C library that the module calls.
Result<> link_c_library(llvm::Module& module, std::span<const std::byte> bitcode) {
  if (llvm::none_of(module.functions(), undefined)) return {};
  llvm::SmallPtrSet<llvm::Function*, 32> before;
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) before.insert(&function);
  TRY(link_device_library(module, bitcode));
  for (llvm::Function& function : module)
    if (!before.contains(&function)) convert_nan_to_zero(function);
  return {};
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

Result<> check(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (undefined(function)) {
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
  TRY(link_without_device_runtime(module, options.device_library));
  internalize(module);
  define_c_functions(module);
  call_c_functions(module);
  TRY(link_c_library(module, options.c_library));
  internalize(module);
  fold_reflect(module, options.architecture);
  remove_unreached(module);
  drop_object_file_notions(module);
  define_guards(module);
  reduce_core(module);
  TRY(lower_cupola(module));
  simplify_early(module);
  contract(module);
  simplify(module);
  return check(module);
}

}  // namespace cupola::kir
