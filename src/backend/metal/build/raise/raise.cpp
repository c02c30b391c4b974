// The steps, each a file: doubles become integers, constants become instructions, variables get their places, calls
// through pointers become direct, shared memory gets its places, kernels read their parameters from the launch,
// vectors become their elements, code gets plain, pointers get their spaces, loops get their form.

#include "backend/metal/build/raise/raise.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "backend/metal/build/raise/assign_spaces.h"
#include "backend/metal/build/raise/call_dispatch.h"
#include "backend/metal/build/raise/grid_barriers.h"
#include "backend/metal/build/raise/meetings.h"
#include "backend/metal/build/raise/metal_intrinsics.h"
#include "backend/metal/build/raise/metal_names.h"
#include "backend/metal/build/raise/parameters.h"
#include "backend/metal/build/raise/plain_shapes.h"
#include "backend/metal/build/raise/refusals.h"
#include "backend/metal/build/raise/soften_doubles.h"
#include "backend/metal/build/raise/spaces.h"
#include "backend/metal/build/raise/stack_frames.h"
#include "backend/metal/build/raise/take_vectors_apart.h"
#include "backend/metal/build/raise/word_atomics.h"
#include "image/metal_abi.h"
#include "kir/address_space.h"
#include "kir/c_functions.h"
#include "kir/call_reach.h"
#include "kir/expand_constants.h"
#include "kir/float_atomics.h"
#include "kir/kernel_parameters.h"
#include "kir/kir.h"
#include "kir/narrow_floats.h"
#include "kir/passes.h"
#include "kir/refusal.h"
#include "kir/shared_layout.h"

namespace cupola::metal::build {
namespace {

/// Of descriptors, whose addresses stand for functions: what they hold nobody reads.
constexpr uint64_t kDescriptorBytes = 8;

llvm::Instruction* module_data_of(llvm::Function& function) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
  return llvm::cast<llvm::Instruction>(
      b.CreateAddrSpaceCast(call(b, MetalIntrinsic::ModuleData), b.getPtrTy(kir::kGenericSpace)));
}

/// Shared variables become places behind metal.shared; those without a size lie where the dynamic part begins.
void place_shared(llvm::Module& module, const kir::SharedLayout& layout) {
  llvm::SmallVector<llvm::GlobalVariable*, 16> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == kir::kSharedSpace) variables.push_back(&variable);
  for (llvm::GlobalVariable* variable : variables) {
    llvm::DenseMap<llvm::Function*, llvm::Value*> addresses;
    for (llvm::Use& use : llvm::make_early_inc_range(variable->uses())) {
      auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      if (!user) continue;
      llvm::Value*& address = addresses[user->getFunction()];
      if (!address) {
        llvm::BasicBlock& entry = user->getFunction()->getEntryBlock();
        llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
        const auto place = layout.offsets.find(variable);
        address = place == layout.offsets.end()
                      ? call(b, MetalIntrinsic::DynamicShared)
                      : b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), call(b, MetalIntrinsic::Shared), place->second);
      }
      use.set(address);
    }
    variable->replaceAllUsesWith(llvm::PoisonValue::get(variable->getType()));  // metadata and the like
    variable->eraseFromParent();
  }
}

/// `dispatching`: functions that call through pointers.
Refusals recursive_functions(llvm::Module& module, const kir::CallReach& reach,
                             const llvm::DenseSet<const llvm::Function*>& dispatching) {
  Refusals recursive;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    for (llvm::Function* callee : reach.callees(&function)) {
      if (!reach.from(callee).contains(&function)) continue;
      const bool by_pointer = dispatching.contains(&function) || dispatching.contains(callee);
      recursive[&function] = {
          ErrorCode::NotSupported,
          formatted("metal: function '{}' {}, which Metal does not allow", kir::demangled(function.getName()),
                    by_pointer ? "may call itself through a pointer" : "calls itself")};
      break;
    }
  }
  return recursive;
}

/// Functions that no kernel calls: a program held them by their addresses alone, or they became part of others.
void remove_uncalled(llvm::Module& module) {
  for (llvm::Function* kernel : kir::kernels(module)) kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && !kir::is_kernel(function)) function.setLinkage(llvm::GlobalValue::InternalLinkage);
  kir::remove_unreached(module);
}

/// True for what writes a FaultRecord.
bool ends_launch(const llvm::Instruction& instruction) {
  if (const auto known = metal_intrinsic_of(instruction))
    return *known == MetalIntrinsic::AssertFailed || *known == MetalIntrinsic::Fail;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call) return false;
  const auto known = kir::intrinsic_of(*call);
  return known == kir::Intrinsic::Trap || known == kir::Intrinsic::AssertFail;
}

bool may_fail(llvm::Function& kernel, const kir::CallReach& reach) {
  return llvm::any_of(reach.from(&kernel), [](const llvm::Function* function) {
    return llvm::any_of(llvm::instructions(*function), ends_launch);
  });
}

Result<> check(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out))
    return fail(ErrorCode::InvalidImage, "metal: the raised module is not valid: {}", text);
  return {};
}

}  // namespace

Result<Raised> raise(std::unique_ptr<llvm::Module> given, std::span<const std::byte> library) {
  Raised raised;
  raised.module = std::move(given);
  llvm::Module* const module = raised.module.get();
  kir::expand_narrow_float_atomics(*module);  // what they compute is expanded next
  kir::expand_float_sums(*module);
  TRY(kir::expand_narrow_floats(*module));
  TRY(soften_doubles(*module, library));
  write_out_atomics(*module);
  kir::expand_constants(*module);
  TRY(raised.data,
      kir::lay_out_module_data(
          *module, kir::CallReach(*module),
          {.descriptor_bytes = kDescriptorBytes, .descriptor_alignment = kDescriptorBytes, .base = module_data_of}));
  const auto dispatching = dispatch_calls(*module, raised.data);
  remove_uncalled(*module);
  for (llvm::Function* kernel : kir::kernels(*module)) {
    raised.kernels.push_back({.info = {}, .entry = {}, .code = kernel});
    raised.kernels.back().info.name = kir::own_name(*kernel).str();
  }
  refuse(raised, recursive_functions(*module, kir::CallReach(*module), dispatching));
  check_grid_barriers(*module);
  TRY(inline_what_needs_a_kernel(*module));
  kir::expand_constants(*module);  // inlining folds
  remove_uncalled(*module);
  count_at_numbered_barriers(*module);
  const std::vector<llvm::Function*> kernels = kir::kernels(*module);
  TRY(const kir::SharedLayout shared, kir::lay_out_shared(*module, kernels, kir::CallReach(*module),
                                                          {.window = image::metal::kMostSharedBytes,
                                                           .dynamic_alignment = image::metal::kSharedAlignment}));
  place_shared(*module, shared);
  for (llvm::Function& function : *module) copy_arguments_by_value(function);
  MetalNames names;
  for (RaisedKernel& kernel : raised.kernels) {
    if (!kernel.code) continue;
    KernelInfo& info = kernel.info;
    info.static_shared_bytes = static_cast<uint32_t>(shared.static_bytes.lookup(kernel.code));
    info.constant_bytes = static_cast<uint32_t>(raised.data.constant_bytes);
    info.registers = 32;
    kir::take_launch_bounds(kir::launch_bounds(*kernel.code), info);
    TRY(kir::lay_out_parameters(*kernel.code, 0, info));
    TRY(kernel.code, read_parameters(*kernel.code, info.parameters));
    end_by_return(*kernel.code);
    kernel.saved_bytes = make_threads_meet(*kernel.code);
    kernel.entry = names.add("kernel_", info.name);
  }
  take_vectors_apart(*module);
  TRY(make_plain(*module));
  refuse(raised, assign_spaces(*module, raised.data.constant_bytes));
  const auto stacks = place_in_stack(*module);
  for (RaisedKernel& kernel : raised.kernels) {
    if (!kernel.code) continue;
    kernel.stack_bytes = stacks.lookup(kernel.code);
    kernel.info.local_bytes = static_cast<uint32_t>(kernel.stack_bytes);
  }
  for (llvm::Function& function : *module)
    if (!function.isDeclaration()) tidy_for_structure(function);
  TRY(check(*module));
  const kir::CallReach reach(*module);
  for (RaisedKernel& kernel : raised.kernels)
    if (kernel.code) kernel.may_fail = may_fail(*kernel.code, reach);
  return raised;
}

}  // namespace cupola::metal::build
