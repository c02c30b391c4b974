#include "ptx/lower/emission.h"

// call. PTX ISA, "call"; the parameters in memory follow the "Function declarations and definitions" of the ABI
// chapter.

namespace cupola::ptx {
namespace {

/// What a call hands to parameter i, given as an operand.
Value* argument_value(Emission& e, const Operand& operand, llvm::Type* type, const Variable& parameter) {
  const bool in_memory = !e.module.scalar_type(parameter);
  const Type ptx_type = parameter.type;
  if (operand.kind == Operand::Kind::Variable) {
    Value* at = e.variable_address(operand.index);
    if (e.f.variables[operand.index].bytes() < parameter.bytes()) {
      e.refuse(formatted("an argument of {} bytes for a parameter of {}", e.f.variables[operand.index].bytes(),
                         parameter.bytes()));
      return llvm::PoisonValue::get(type);
    }
    if (in_memory) return at;
    llvm::Type* stored = e.module.scalar_type(e.f.variables[operand.index]);
    if (!stored) stored = e.value_type(ptx_type);
    return e.convert(e.b.CreateLoad(stored, at), type);
  }
  if (in_memory) {
    e.refuse("a parameter that is passed in memory wants a .param variable");
    return llvm::PoisonValue::get(type);
  }
  return e.convert(e.read(operand, ptx_type), type);
}

void take_result(Emission& e, const Operand& operand, Value* value, Type type) {
  if (operand.kind != Operand::Kind::Variable) return e.write(operand, e.convert(value, e.value_type(type)), type);
  e.b.CreateStore(value, e.variable_address(operand.index));
}

}  // namespace

void emit::call(Emission& e) {
  // [(results),] target [, (arguments) [, prototype]]
  size_t at = 0;
  std::span<const Operand> results, arguments;
  if (at < e.count() && e.operand(at).kind == Operand::Kind::Vector) results = e.parts(e.operand(at++));
  if (at >= e.count()) return e.refuse("the function to call is missing");
  const Operand& target = e.operand(at++);
  if (at < e.count() && e.operand(at).kind == Operand::Kind::Vector) arguments = e.parts(e.operand(at++));

  const std::vector<Variable>* result_types = nullptr;
  const std::vector<Variable>* parameter_types = nullptr;
  llvm::FunctionType* type = nullptr;
  Value* callee = nullptr;
  if (target.kind == Operand::Kind::Symbol) {
    const std::string_view name = e.module.m.names[target.index];
    const Function* declared = e.module.function_named(name);
    auto* function = llvm::dyn_cast_or_null<llvm::Function>(e.module.symbol(name));
    if (!declared || !function) return e.refuse("the function is not declared");
    if (declared->is_kernel) return e.refuse("a kernel is launched, not called");
    result_types = &declared->results;
    parameter_types = &declared->parameters;
    type = function->getFunctionType();
    callee = function;
  } else {
    const Prototype* prototype = nullptr;
    if (at < e.count() && e.operand(at).kind == Operand::Kind::Symbol)
      prototype = e.prototype(e.module.m.names[e.operand(at).index]);
    if (!prototype) return e.refuse("a call through a register wants a .callprototype");
    result_types = &prototype->results;
    parameter_types = &prototype->parameters;
    type = e.module.signature(*result_types, *parameter_types);
    callee = e.b.CreateIntToPtr(e.read(target, Type::B64), e.b.getPtrTy());
  }
  if (arguments.size() != parameter_types->size() || results.size() != result_types->size() ||
      arguments.size() != type->getNumParams())
    return e.refuse(
        formatted("the function has {} parameters and {} results", parameter_types->size(), result_types->size()));

  llvm::SmallVector<Value*, 8> values;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const Variable& parameter = (*parameter_types)[i];
    values.push_back(argument_value(e, arguments[i], type->getParamType(i), parameter));
  }
  if (e.failed()) return;
  llvm::CallInst* made = e.b.CreateCall(type, callee, values);
  made->setConvergent();
  e.module.mark_by_value(*made, *parameter_types);
  if (results.size() == 1) take_result(e, results[0], made, (*result_types)[0].type);
  for (unsigned i = 0; results.size() > 1 && i < results.size(); ++i)
    take_result(e, results[i], e.b.CreateExtractValue(made, i), (*result_types)[i].type);
}

}  // namespace cupola::ptx
