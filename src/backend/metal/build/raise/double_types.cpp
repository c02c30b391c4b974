#include "backend/metal/build/raise/double_types.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace cupola::metal::build {
namespace {

using llvm::Constant;
using llvm::Type;

/// What LLVM's mapper of values asks for: each type without doubles, and the constants that it cannot make by itself.
class WithoutDoubles : public llvm::ValueMapTypeRemapper, public llvm::ValueMaterializer {
 public:
  explicit WithoutDoubles(llvm::Module& module)
      : word_(Type::getInt64Ty(module.getContext())), mapper_(values_, kFlags, this, this) {}

  Type* remapType(Type* type) override {
    if (!holds_double(type)) return type;
    if (type->isDoubleTy()) return word_;
    Type*& known = types_[type];
    if (!known) known = replaced(type);
    return known;
  }

  llvm::Value* materialize(llvm::Value* value) override {
    auto* constant = llvm::dyn_cast<Constant>(value);
    return constant ? replaced(constant) : nullptr;
  }

  Constant* map(Constant* constant) { return mapper_.mapConstant(*constant); }
  void map(llvm::Function& function) { mapper_.remapFunction(function); }

  llvm::AttributeList map(llvm::LLVMContext& context, llvm::AttributeList attributes) {
    for (const unsigned index : attributes.indexes())
      for (int kind = llvm::Attribute::FirstTypeAttr; kind <= llvm::Attribute::LastTypeAttr; ++kind) {
        const auto which = static_cast<llvm::Attribute::AttrKind>(kind);
        if (Type* type = attributes.getAttributeAtIndex(index, which).getValueAsType())
          attributes = attributes.replaceAttributeTypeAtIndex(context, index, which, remapType(type));
      }
    return attributes;
  }

 private:
  static constexpr auto kFlags =
      static_cast<llvm::RemapFlags>(int{llvm::RF_NoModuleLevelChanges} | int{llvm::RF_IgnoreMissingLocals});

  Type* replaced(Type* type) {
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
      return llvm::ArrayType::get(remapType(array->getElementType()), array->getNumElements());
    if (auto* vector = llvm::dyn_cast<llvm::VectorType>(type)) return vector->getWithNewType(word_);
    llvm::SmallVector<Type*, 8> elements;
    if (auto* function = llvm::dyn_cast<llvm::FunctionType>(type)) {
      for (Type* parameter : function->params()) elements.push_back(remapType(parameter));
      return llvm::FunctionType::get(remapType(function->getReturnType()), elements, function->isVarArg());
    }
    auto* record = llvm::cast<llvm::StructType>(type);
    for (Type* element : record->elements()) elements.push_back(remapType(element));
    if (record->isLiteral()) return llvm::StructType::get(type->getContext(), elements, record->isPacked());
    const std::string name = record->getName().str();
    record->setName("");
    return llvm::StructType::create(type->getContext(), elements, name, record->isPacked());
  }

  /// Null for what the mapper makes by itself, or need not change.
  Constant* replaced(Constant* constant) {
    if (auto* number = llvm::dyn_cast<llvm::ConstantFP>(constant)) {
      if (!holds_double(number->getType())) return nullptr;
      return llvm::ConstantInt::get(remapType(number->getType()), number->getValueAPF().bitcastToAPInt());
    }
    if (auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(constant)) {
      if (!data->getElementType()->isDoubleTy()) return nullptr;
      const llvm::StringRef bytes = data->getRawDataValues();
      const unsigned count = data->getNumElements();
      return data->getType()->isVectorTy() ? llvm::ConstantDataVector::getRaw(bytes, count, word_)
                                           : llvm::ConstantDataArray::getRaw(bytes, count, word_);
    }
    auto* place = llvm::dyn_cast<llvm::GEPOperator>(constant);
    if (!place || !holds_double(place->getSourceElementType())) return nullptr;
    llvm::SmallVector<llvm::Value*, 4> indices(place->indices());
    return llvm::ConstantExpr::getGetElementPtr(remapType(place->getSourceElementType()),
                                                map(llvm::cast<Constant>(place->getPointerOperand())), indices,
                                                place->getNoWrapFlags(), place->getInRange());
  }

  Type* word_;
  llvm::DenseMap<Type*, Type*> types_;
  llvm::ValueToValueMapTy values_;
  llvm::ValueMapper mapper_;
};

/// The variables, whose initial values are mapped behind, since they may name each other.
void replace_variables(llvm::Module& module, WithoutDoubles& types) {
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals())) {
    Type* type = types.remapType(variable.getValueType());
    if (type == variable.getValueType()) continue;
    Constant* initial = variable.hasInitializer() ? types.map(variable.getInitializer()) : nullptr;
    auto* made = new llvm::GlobalVariable(module, type, variable.isConstant(), variable.getLinkage(), initial, "",
                                          &variable, variable.getThreadLocalMode(), variable.getAddressSpace());
    made->copyAttributesFrom(&variable);
    made->copyMetadata(&variable, 0);
    made->setComdat(variable.getComdat());
    made->takeName(&variable);
    variable.replaceAllUsesWith(made);
    variable.eraseFromParent();
  }
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.hasInitializer()) variable.setInitializer(types.map(variable.getInitializer()));
}

/// The same function with another type; null where its type has no doubles.
llvm::Function* with_type(llvm::Function& function, WithoutDoubles& types) {
  auto* type = llvm::cast<llvm::FunctionType>(types.remapType(function.getFunctionType()));
  if (type == function.getFunctionType()) return nullptr;
  auto* made = llvm::Function::Create(type, function.getLinkage(), function.getAddressSpace(), "");
  function.getParent()->getFunctionList().insert(function.getIterator(), made);
  made->copyAttributesFrom(&function);
  made->setComdat(function.getComdat());
  if (!function.isDeclaration()) {
    made->stealArgumentListFrom(function);
    made->splice(made->end(), &function);
  }
  made->copyMetadata(&function, 0);
  made->takeName(&function);
  function.replaceAllUsesWith(made);
  return made;
}

/// What is said of floating-point numbers only.
void drop_float_flags(llvm::Instruction& instruction) {
  if (llvm::isa<llvm::FPMathOperator>(instruction) && holds_double(instruction.getType()))
    instruction.setFastMathFlags(llvm::FastMathFlags());
}
/// Of a function or a call.
template <typename Callee>
void drop_float_attributes(Callee& callee) {
  callee.removeRetAttrs(llvm::AttributeFuncs::typeIncompatible(callee.getFunctionType()->getReturnType(), {}));
  for (unsigned i = 0; i < callee.getFunctionType()->getNumParams(); ++i)
    callee.removeParamAttrs(i, llvm::AttributeFuncs::typeIncompatible(callee.getFunctionType()->getParamType(i), {}));
}

/// Casts that have become such of a type to itself.
void remove_casts(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (llvm::isa<llvm::BitCastInst>(instruction) && instruction.getType() == instruction.getOperand(0)->getType()) {
      instruction.replaceAllUsesWith(instruction.getOperand(0));
      instruction.eraseFromParent();
    }
}

}  // namespace

bool holds_double(const Type* type) {
  if (type->isDoubleTy()) return true;
  return llvm::any_of(type->subtypes(), [](const Type* part) { return holds_double(part); });
}

void replace_double_types(llvm::Module& module) {
  WithoutDoubles types(module);
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) drop_float_flags(instruction);
  llvm::SmallVector<llvm::Function*, 16> replaced;
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (with_type(function, types)) replaced.push_back(&function);
  for (llvm::Function* function : replaced) function->eraseFromParent();
  replace_variables(module, types);
  for (llvm::Function& function : module) {
    function.setAttributes(types.map(module.getContext(), function.getAttributes()));
    if (function.isDeclaration()) continue;
    types.map(function);
    drop_float_attributes(function);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) drop_float_attributes(*call);
    remove_casts(function);
  }
}

}  // namespace cupola::metal::build
