#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "kir/address_space.h"
#include "kir/c_functions.h"
#include "kir/core_intrinsics.h"
#include "kir/kir.h"
#include "kir/passes.h"
#include "kir/refusal.h"

namespace cupola::kir {
namespace {

Result<> check_callee(const llvm::CallBase& call, const llvm::Function& callee) {
  if (!callee.isDeclaration()) return {};
  const llvm::StringRef name = callee.getName();
  if (callee.isIntrinsic()) {
    if (core_class_of(callee.getIntrinsicID())) return {};
    return fail(ErrorCode::NotSupported, "kir: {}: {} is not supported", place_of(call), name.str());
  }
  if (const auto intrinsic = intrinsic_of(callee)) {
    if (callee.getFunctionType() == type_of(*intrinsic, callee.getContext())) return {};
    return fail(ErrorCode::InvalidImage, "kir: {}: {} is declared with another type than its own", place_of(call),
                name.str());
  }
  if (is_library_call(name)) return {};
  return fail(ErrorCode::InvalidImage,
              "kir: {} calls '{}', which is defined nowhere; define it, or link the module that does "
              "(with cupolac: -rdc=true for both files)",
              place_of(call), demangled(name));
}

/// The number of an address space that kir does not have, of a pointer or a vector of pointers.
std::optional<unsigned> other_address_space(const llvm::Value& value) {
  auto* pointer = llvm::dyn_cast<llvm::PointerType>(value.getType()->getScalarType());
  if (!pointer || is_address_space(pointer->getAddressSpace())) return {};
  return pointer->getAddressSpace();
}

Result<> check_address_spaces(const llvm::Instruction& instruction) {
  std::optional<unsigned> other = other_address_space(instruction);
  for (const llvm::Value* operand : instruction.operand_values())
    if (!other) other = other_address_space(*operand);
  if (!other) return {};
  return fail(ErrorCode::NotSupported, "kir: {}: addresses of space {} are not supported", place_of(instruction),
              *other);
}

Result<> check_arguments(const llvm::Function& function) {
  if (function.isIntrinsic()) return {};
  for (const llvm::Argument& argument : function.args())
    if (const auto other = other_address_space(argument))
      return fail(ErrorCode::NotSupported, "kir: '{}' takes an address of space {}, which is not supported",
                  demangled(function.getName()), *other);
  return {};
}

Result<> check(const llvm::Instruction& instruction) {
  TRY(check_address_spaces(instruction));
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
  if (const auto other = other_address_space(variable))
    return fail(ErrorCode::NotSupported, "kir: the variable '{}' lies in address space {}, which is not supported",
                demangled(variable.getName()), *other);
  if (!variable.isDeclaration() || variable.use_empty() || variable.getAddressSpace() == kSharedSpace) return {};
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
    TRY(check_arguments(function));
    for (const llvm::Instruction& instruction : llvm::instructions(function)) TRY(check(instruction));
  }
  return {};
}

}  // namespace cupola::kir
