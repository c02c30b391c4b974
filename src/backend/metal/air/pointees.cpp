#include "backend/metal/air/pointees.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <optional>

namespace cupola::air {
namespace {

/// The type that a use looks through the pointer with; null for uses that do not.
llvm::Type* accessed_type(const llvm::Use& use) {
  const llvm::User* user = use.getUser();
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) return load->getType();
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
    return use.getOperandNo() == store->getPointerOperandIndex() ? store->getValueOperand()->getType() : nullptr;
  if (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(user))
    return use.getOperandNo() == 0 ? address->getSourceElementType() : nullptr;
  return nullptr;
}

}  // namespace

Pointees::Pointees(const llvm::Module& module, TypeTable& types) : types_(types) {
  for (const llvm::Function& function : module)
    if (!function.isDeclaration()) add_signature(function);
  for (const llvm::Function& function : module)  // these look at the arguments that they are given
    if (function.isDeclaration()) add_signature(function);
}

void Pointees::add_signature(const llvm::Function& function) {
  Signature signature;
  signature.result = types_.of(function.getReturnType());
  for (const llvm::Argument& parameter : function.args()) {
    const bool is_pointer = parameter.getType()->isPointerTy();
    if (is_pointer && function.isDeclaration()) pointees_[&parameter] = agreed_argument(function, parameter);
    signature.parameters.push_back(type_of(parameter));
  }
  signature.type = types_.function(signature.result, signature.parameters, function.isVarArg());
  signatures_[&function] = std::move(signature);
}

/// What all calls pass for a parameter of a function from elsewhere points to. LLVM's own take i8*.
TypeId Pointees::agreed_argument(const llvm::Function& function, const llvm::Argument& parameter) {
  const TypeId byte = types_.of(llvm::Type::getInt8Ty(function.getContext()));
  std::optional<TypeId> agreed;
  if (function.isIntrinsic()) return byte;
  for (const llvm::User* user : function.users()) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    if (!call || call->getCalledOperand() != &function || parameter.getArgNo() >= call->arg_size()) continue;
    const TypeId pointee = pointee_of(*call->getArgOperand(parameter.getArgNo()));
    if (agreed && *agreed != pointee) return byte;
    agreed = pointee;
  }
  return agreed.value_or(byte);
}

TypeId Pointees::type_of(const llvm::Value& value) {
  if (!value.getType()->isPointerTy()) return types_.of(value.getType());
  return types_.pointer_to(pointee_of(value), value.getType()->getPointerAddressSpace());
}

TypeId Pointees::pointee_of(const llvm::Value& value) {
  if (const auto* function = llvm::dyn_cast<llvm::Function>(&value))
    if (const auto found = signatures_.find(function); found != signatures_.end()) return found->second.type;
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value)) return contents_of(*variable);
  if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(&value)) return types_.of(global->getValueType());
  if (const auto* room = llvm::dyn_cast<llvm::AllocaInst>(&value)) return types_.of(room->getAllocatedType());
  if (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(&value))
    return types_.of(address->getResultElementType());
  if (const auto found = pointees_.find(&value); found != pointees_.end()) return found->second;
  const TypeId pointee = pointee_from_uses(value);
  pointees_[&value] = pointee;
  return pointee;
}

TypeId Pointees::contents_of(const llvm::GlobalVariable& variable) {
  const llvm::StringRef name = variable.getName();
  if (name != "llvm.global_ctors" && name != "llvm.global_dtors") return types_.of(variable.getValueType());
  // LLVM prescribes their type: priority, function, what it is for.
  llvm::LLVMContext& context = variable.getContext();
  const TypeId function = types_.function(types_.of(llvm::Type::getVoidTy(context)), {}, false);
  const TypeId element = types_.structure({types_.of(llvm::Type::getInt32Ty(context)), types_.pointer_to(function, 0),
                                           types_.pointer_to(types_.of(llvm::Type::getInt8Ty(context)), 0)});
  return types_.array(variable.getValueType()->getArrayNumElements(), element);
}

TypeId Pointees::pointee_from_uses(const llvm::Value& value) {
  llvm::Type* const byte = llvm::Type::getInt8Ty(value.getContext());
  // Aggregates and results of functions hold i8*. Constants are shared by functions: their uses say nothing.
  if (llvm::isa<llvm::Constant, llvm::CallBase, llvm::ExtractValueInst, llvm::ExtractElementInst>(value))
    return types_.of(byte);
  llvm::Type* agreed = nullptr;
  for (const llvm::Use& use : value.uses()) {
    llvm::Type* type = accessed_type(use);
    if (!type) continue;
    if (agreed && agreed != type) return types_.of(byte);
    agreed = type;
  }
  return types_.of(agreed ? agreed : byte);
}

Pointees::Signature Pointees::signature_of(const llvm::CallBase& call) {
  if (const llvm::Function* function = call.getCalledFunction()) return signatures_.at(function);
  Signature signature;
  signature.type = types_.of(call.getFunctionType());
  signature.result = types_.of(call.getType());
  for (llvm::Type* parameter : call.getFunctionType()->params()) signature.parameters.push_back(types_.of(parameter));
  return signature;
}

TypeId Pointees::wanted(const llvm::Instruction& user, unsigned operand) {
  const llvm::Value& value = *user.getOperand(operand);
  if (!value.getType()->isPointerTy()) return types_.of(value.getType());
  const unsigned space = value.getType()->getPointerAddressSpace();
  if (llvm::isa<llvm::LoadInst>(user)) return types_.pointer_to(type_of(user), space);
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user))
    return operand == store->getPointerOperandIndex()
               ? types_.pointer_to(types_.of(store->getValueOperand()->getType()), space)
               : types_.of(value.getType());
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&user))
    return types_.pointer_to(types_.of(address->getSourceElementType()), space);
  if (llvm::isa<llvm::PHINode, llvm::SelectInst, llvm::FreezeInst>(user)) return type_of(user);
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&user)) {
    const Signature signature = signature_of(*call);
    if (call->isCallee(&call->getOperandUse(operand))) return types_.pointer_to(signature.type, space);
    if (operand < signature.parameters.size()) return signature.parameters[operand];
    return type_of(value);
  }
  if (llvm::isa<llvm::ReturnInst>(user)) return signatures_.at(user.getFunction()).result;
  if (llvm::isa<llvm::CastInst>(user)) return type_of(value);
  return types_.of(value.getType());  // comparisons, aggregates
}

}  // namespace cupola::air
