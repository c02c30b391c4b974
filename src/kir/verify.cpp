#include <llvm/ADT/StringSet.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "kir/kir.h"
#include "kir/passes.h"
#include "kir/refusal.h"

namespace cupola::kir {
namespace {

constexpr const char* kLibraryCalls[] = {
#define CUPOLA_LIBRARY_CALL(symbol) #symbol,
#include "image/library_calls.def"
#undef CUPOLA_LIBRARY_CALL
};

/// Target-independent intrinsics that every back-end lowers.
constexpr llvm::Intrinsic::ID kAllowed[] = {
    // math
    llvm::Intrinsic::fma, llvm::Intrinsic::fmuladd, llvm::Intrinsic::sqrt, llvm::Intrinsic::sin, llvm::Intrinsic::cos,
    llvm::Intrinsic::tan, llvm::Intrinsic::asin, llvm::Intrinsic::acos, llvm::Intrinsic::atan, llvm::Intrinsic::atan2,
    llvm::Intrinsic::sinh, llvm::Intrinsic::cosh, llvm::Intrinsic::tanh, llvm::Intrinsic::sincos, llvm::Intrinsic::exp,
    llvm::Intrinsic::exp2, llvm::Intrinsic::exp10, llvm::Intrinsic::log, llvm::Intrinsic::log2, llvm::Intrinsic::log10,
    llvm::Intrinsic::pow, llvm::Intrinsic::powi, llvm::Intrinsic::ldexp, llvm::Intrinsic::frexp, llvm::Intrinsic::modf,
    llvm::Intrinsic::floor, llvm::Intrinsic::ceil, llvm::Intrinsic::trunc, llvm::Intrinsic::rint,
    llvm::Intrinsic::nearbyint, llvm::Intrinsic::round, llvm::Intrinsic::roundeven, llvm::Intrinsic::lrint,
    llvm::Intrinsic::llrint, llvm::Intrinsic::lround, llvm::Intrinsic::llround, llvm::Intrinsic::fabs,
    llvm::Intrinsic::copysign, llvm::Intrinsic::minnum, llvm::Intrinsic::maxnum, llvm::Intrinsic::minimum,
    llvm::Intrinsic::maximum, llvm::Intrinsic::minimumnum, llvm::Intrinsic::maximumnum, llvm::Intrinsic::canonicalize,
    llvm::Intrinsic::is_fpclass, llvm::Intrinsic::fptosi_sat, llvm::Intrinsic::fptoui_sat,
    llvm::Intrinsic::arithmetic_fence,
    // integers
    llvm::Intrinsic::ctpop, llvm::Intrinsic::ctlz, llvm::Intrinsic::cttz, llvm::Intrinsic::bswap,
    llvm::Intrinsic::bitreverse, llvm::Intrinsic::fshl, llvm::Intrinsic::fshr, llvm::Intrinsic::abs,
    llvm::Intrinsic::smin, llvm::Intrinsic::smax, llvm::Intrinsic::umin, llvm::Intrinsic::umax, llvm::Intrinsic::scmp,
    llvm::Intrinsic::ucmp, llvm::Intrinsic::sadd_with_overflow, llvm::Intrinsic::uadd_with_overflow,
    llvm::Intrinsic::ssub_with_overflow, llvm::Intrinsic::usub_with_overflow, llvm::Intrinsic::smul_with_overflow,
    llvm::Intrinsic::umul_with_overflow, llvm::Intrinsic::sadd_sat, llvm::Intrinsic::uadd_sat,
    llvm::Intrinsic::ssub_sat, llvm::Intrinsic::usub_sat, llvm::Intrinsic::sshl_sat, llvm::Intrinsic::ushl_sat,
    // vectors
    llvm::Intrinsic::vector_reduce_add, llvm::Intrinsic::vector_reduce_mul, llvm::Intrinsic::vector_reduce_and,
    llvm::Intrinsic::vector_reduce_or, llvm::Intrinsic::vector_reduce_xor, llvm::Intrinsic::vector_reduce_smin,
    llvm::Intrinsic::vector_reduce_smax, llvm::Intrinsic::vector_reduce_umin, llvm::Intrinsic::vector_reduce_umax,
    // memory
    llvm::Intrinsic::memcpy, llvm::Intrinsic::memcpy_inline, llvm::Intrinsic::memmove, llvm::Intrinsic::memset,
    llvm::Intrinsic::memset_inline, llvm::Intrinsic::prefetch, llvm::Intrinsic::stacksave,
    llvm::Intrinsic::stackrestore, llvm::Intrinsic::lifetime_start, llvm::Intrinsic::lifetime_end,
    llvm::Intrinsic::invariant_start, llvm::Intrinsic::invariant_end, llvm::Intrinsic::launder_invariant_group,
    llvm::Intrinsic::strip_invariant_group, llvm::Intrinsic::ptrmask,
    // hints
    llvm::Intrinsic::assume, llvm::Intrinsic::expect, llvm::Intrinsic::annotation, llvm::Intrinsic::ptr_annotation,
    llvm::Intrinsic::var_annotation, llvm::Intrinsic::dbg_declare, llvm::Intrinsic::dbg_value,
    llvm::Intrinsic::dbg_label, llvm::Intrinsic::dbg_assign, llvm::Intrinsic::experimental_noalias_scope_decl,
    llvm::Intrinsic::donothing, llvm::Intrinsic::fake_use};

bool is_library_call(llvm::StringRef name) {
  static const auto& names = *[] {
    auto* set = new llvm::StringSet<>;  // leaked: used after static destructors
    for (const char* call : kLibraryCalls) set->insert(call);
    return set;
  }();
  return names.contains(name);
}

Result<> check_callee(const llvm::CallBase& call, const llvm::Function& callee) {
  if (!callee.isDeclaration()) return {};
  const llvm::StringRef name = callee.getName();
  if (callee.isIntrinsic()) {
    if (llvm::is_contained(kAllowed, callee.getIntrinsicID())) return {};
    return fail(ErrorCode::NotSupported, "kir: {}: {} is not supported", place_of(call), name.str());
  }
  if (const auto intrinsic = intrinsic_of(callee)) {
    if (callee.getFunctionType() == type_of(*intrinsic, callee.getContext())) return {};
    return fail(ErrorCode::InvalidImage, "kir: {}: {} is declared with another type than its own", place_of(call),
                name.str());
  }
  if (is_library_call(name)) return {};
  return fail(ErrorCode::InvalidImage,
              "kir: {} calls '{}', which is defined nowhere; define it, or link the module that does", place_of(call),
              demangled(name));
}

bool has_other_address_space(const llvm::Value& value) {
  auto* pointer = llvm::dyn_cast<llvm::PointerType>(value.getType()->getScalarType());
  if (!pointer) return false;
  const unsigned space = pointer->getAddressSpace();
  return space != 0 && space != 1 && space != 3 && space != 4 && space != 5;
}

Result<> check(const llvm::Instruction& instruction) {
  if (has_other_address_space(instruction))
    return fail(ErrorCode::NotSupported, "kir: {}: addresses of space {} are not supported", place_of(instruction),
                instruction.getType()->getPointerAddressSpace());
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Invoke:
    case llvm::Instruction::CallBr:
    case llvm::Instruction::LandingPad:
    case llvm::Instruction::Resume:
    case llvm::Instruction::VAArg:
    case llvm::Instruction::IndirectBr:
      return fail(ErrorCode::NotSupported, "kir: {}: '{}' is not supported in device code", place_of(instruction),
                  instruction.getOpcodeName());
    default:
      break;
  }
  auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call) return {};
  if (call->isInlineAsm())
    return fail(ErrorCode::NotSupported, "kir: {}: inline PTX is not supported here", place_of(instruction));
  if (const llvm::Function* callee = call->getCalledFunction()) return check_callee(*call, *callee);
  return {};
}

/// A declared function may be called, not held: its address would be nowhere.
Result<> check_declaration(const llvm::Function& function) {
  if (!function.isDeclaration() || function.isIntrinsic()) return {};
  for (const llvm::Use& use : function.uses()) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
    if (!call || !call->isCallee(&use))
      return fail(ErrorCode::InvalidImage, "kir: the address of '{}' is taken, but it is defined nowhere",
                  demangled(function.getName()));
  }
  return {};
}

/// Dynamic shared memory is declared only; any other variable must be defined.
Result<> check_variable(const llvm::GlobalVariable& variable) {
  if (!variable.isDeclaration() || variable.use_empty() || variable.getAddressSpace() == 3) return {};
  return fail(ErrorCode::InvalidImage,
              "kir: the variable '{}' is declared and defined nowhere; define it, or link the module that does",
              demangled(variable.getName()));
}

}  // namespace

Result<> verify(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out)) return fail(ErrorCode::InvalidImage, "kir: the module is malformed: {}", text);
  for (const llvm::GlobalVariable& variable : module.globals()) TRY(check_variable(variable));
  for (const llvm::Function& function : module) {
    TRY(check_declaration(function));
    for (const llvm::Instruction& instruction : llvm::instructions(function)) TRY(check(instruction));
  }
  return {};
}

}  // namespace cupola::kir
