// A module of doubles becomes one of 64-bit integers in three steps: what the C library computes is linked, operations
// become calls of soft_doubles.cu's functions between casts, so that doubles are moved and nothing else; then the types
// change, and the casts fall away.

#include "backend/metal/build/raise/soften_doubles.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "backend/metal/build/raise/double_types.h"
#include "backend/metal/build/raise/soft_operations.h"
#include "kir/c_functions.h"
#include "kir/c_library.h"
#include "kir/exchange_loop.h"
#include "kir/kir.h"
#include "kir/passes.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

using llvm::AtomicRMWInst;
using llvm::Value;

/// llvm.sincos as two calls; the C library for GPUs has no sincos.
void split_sincos(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != llvm::Intrinsic::sincos) continue;
      llvm::IRBuilder<> b(call);
      Value* x = call->getArgOperand(0);
      Value* sine = b.CreateInsertValue(llvm::PoisonValue::get(call->getType()),
                                        b.CreateUnaryIntrinsic(llvm::Intrinsic::sin, x), 0);
      call->replaceAllUsesWith(b.CreateInsertValue(sine, b.CreateUnaryIntrinsic(llvm::Intrinsic::cos, x), 1));
      call->eraseFromParent();
    }
}

/// Functions of the C library that soft_doubles.cu has itself, exact, as one of LLVM's intrinsics; fmod is frem.
struct ExactFunction {
  const char* name;
  llvm::Intrinsic::ID intrinsic;
};
constexpr ExactFunction kExactFunctions[] = {
    {"sqrt", llvm::Intrinsic::sqrt},           {"fabs", llvm::Intrinsic::fabs},
    {"floor", llvm::Intrinsic::floor},         {"ceil", llvm::Intrinsic::ceil},
    {"trunc", llvm::Intrinsic::trunc},         {"rint", llvm::Intrinsic::rint},
    {"nearbyint", llvm::Intrinsic::nearbyint}, {"round", llvm::Intrinsic::round},
    {"roundeven", llvm::Intrinsic::roundeven}, {"fma", llvm::Intrinsic::fma},
    {"fmin", llvm::Intrinsic::minimumnum},     {"fmax", llvm::Intrinsic::maximumnum},
    {"copysign", llvm::Intrinsic::copysign},   {"fmod", llvm::Intrinsic::not_intrinsic},
};

void call_exact_functions(llvm::Module& module) {
  for (const ExactFunction& exact : kExactFunctions) {
    llvm::Function* function = module.getFunction(exact.name);
    if (!function || !function->isDeclaration() || !function->getReturnType()->isDoubleTy()) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);  // verify lets nobody take its address
      llvm::IRBuilder<> b(call);
      llvm::SmallVector<Value*, 3> arguments(call->args());
      call->replaceAllUsesWith(exact.intrinsic == llvm::Intrinsic::not_intrinsic
                                   ? b.CreateFRem(arguments[0], arguments[1])
                                   : b.CreateIntrinsic(exact.intrinsic, {call->getType()}, arguments));
      call->eraseFromParent();
    }
  }
}

/// The functions of a library that `module` declares and that are `wanted`, with kir's meaning and simplified: linked
/// to a module of their own first, since what is prepared must not be prepared again.
template <typename Wanted>
Result<> link_prepared(llvm::Module& module, std::span<const std::byte> library, Wanted wanted) {
  auto part = std::make_unique<llvm::Module>("metal library", module.getContext());
  part->setDataLayout(module.getDataLayout());
  part->setTargetTriple(module.getTargetTriple());
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && !function.use_empty() && wanted(function))
      llvm::Function::Create(function.getFunctionType(), llvm::GlobalValue::ExternalLinkage, function.getName(), *part);
  if (part->empty()) return {};
  TRY(kir::link_c_library(*part, library));
  kir::define_guards(*part);
  kir::reduce_core(*part);
  kir::simplify_early(*part);
  kir::contract(*part);
  kir::simplify(*part);
  for (llvm::Function& function : *part) {  // clang says of all that they may hold a barrier
    function.removeFnAttr(llvm::Attribute::Convergent);
    function.setDoesNotThrow();
    if (function.getName().starts_with(kSoftPrefix)) function.setDoesNotAccessMemory(), function.setWillReturn();
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->removeFnAttr(llvm::Attribute::Convergent);
  }
  return kir::link_needed(module, std::move(part));
}

bool is_soft(const llvm::Function& function) {
  return function.getName().starts_with(kSoftPrefix);
}

Value* updated(llvm::IRBuilderBase& b, AtomicRMWInst::BinOp operation, Value* seen, Value* value) {
  if (operation == AtomicRMWInst::FMin) return b.CreateBinaryIntrinsic(llvm::Intrinsic::minimumnum, seen, value);
  if (operation == AtomicRMWInst::FMax) return b.CreateBinaryIntrinsic(llvm::Intrinsic::maximumnum, seen, value);
  return llvm::buildAtomicRMWValue(operation, b, seen, value);
}

Result<> expand_atomics(llvm::Module& module) {
  llvm::SmallVector<AtomicRMWInst*, 8> work;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* update = llvm::dyn_cast<AtomicRMWInst>(&instruction);
      if (!update || !update->getType()->getScalarType()->isDoubleTy()) continue;
      if (update->getType()->isVectorTy())
        return fail(ErrorCode::NotSupported, "metal: {}: atomic arithmetic of several doubles at once is not supported",
                    kir::place_of(*update));
      if (update->getOperation() != AtomicRMWInst::Xchg) work.push_back(update);
    }
  for (AtomicRMWInst* update : work)
    kir::expand_by_exchange(*update, [&](llvm::IRBuilderBase& b, Value* seen) {
      return updated(b, update->getOperation(), seen, update->getValOperand());
    });
  return {};
}

/// Functions of doubles that nobody defines: of the C library those that c_functions.cu leaves out.
Result<> check_functions(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.use_empty() || !holds_double(function.getFunctionType())) continue;
    const auto* user = llvm::dyn_cast<llvm::Instruction>(function.user_back());
    return fail(ErrorCode::NotSupported, "metal: {}: the function '{}' of doubles is defined nowhere",
                user ? kir::place_of(*user) : std::string("a variable"), kir::demangled(function.getName()));
  }
  return {};
}

Result<> check_soft_functions(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (is_soft(function) && function.isDeclaration() && !function.use_empty())
      return fail(ErrorCode::InvalidImage, "metal: the library metal.bc lacks '{}'", function.getName().str());
  return {};
}

void inline_short_functions(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!is_soft(function) || !function.hasFnAttribute(llvm::Attribute::AlwaysInline)) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*llvm::cast<llvm::CallBase>(user), info);
    }
    function.eraseFromParent();
  }
}

void remove_unused_declarations(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
}

/// The promise of the header.
Result<> check(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out))
    return fail(ErrorCode::InvalidImage, "metal: the module without doubles is malformed: {}", text);
  for (const llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      bool left = holds_double(instruction.getType());
      for (const Value* operand : instruction.operand_values()) left |= holds_double(operand->getType());
      if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) left |= holds_double(local->getAllocatedType());
      if (auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
        left |= holds_double(place->getSourceElementType());
      if (left)
        return fail(ErrorCode::NotSupported, "metal: {}: '{}' is not supported for doubles", kir::place_of(instruction),
                    instruction.getOpcodeName());
    }
  return {};
}

}  // namespace

Result<> soften_doubles(llvm::Module& module, std::span<const std::byte> library) {
  split_sincos(module);
  kir::call_c_functions(module);
  call_exact_functions(module);
  TRY(link_prepared(module, library,
                    [](const llvm::Function& function) { return kir::is_library_call(function.getName()); }));
  remove_unused_declarations(module);
  TRY(expand_atomics(module));
  TRY(call_soft_operations(module));
  remove_unused_declarations(module);
  TRY(check_functions(module));
  TRY(link_prepared(module, library, is_soft));
  TRY(check_soft_functions(module));
  inline_short_functions(module);
  replace_double_types(module);
  return check(module);
}

}  // namespace cupola::metal::build
