#include "backend/metal/air/typed_types.h"

#include <llvm/Bitcode/LLVMBitCodes.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/Support/raw_ostream.h>

namespace cupola::air {

using namespace llvm::bitc;

TypeId TypeTable::add(Row row) {
  const auto [at, is_new] = known_.emplace(row, static_cast<TypeId>(rows_.size()));
  if (is_new) rows_.push_back(std::move(row));
  return at->second;
}

TypeId TypeTable::pointer_to(TypeId pointee, unsigned address_space) {
  return add({TYPE_CODE_POINTER, {pointee, address_space}, {}});
}

TypeId TypeTable::function(TypeId result, const std::vector<TypeId>& parameters, bool variadic) {
  Row row = {TYPE_CODE_FUNCTION, {variadic, result}, {}};
  row.operands.insert(row.operands.end(), parameters.begin(), parameters.end());
  return add(std::move(row));
}

TypeId TypeTable::array(uint64_t count, TypeId element) {
  return add({TYPE_CODE_ARRAY, {count, element}, {}});
}

TypeId TypeTable::structure(const std::vector<TypeId>& elements) {
  Row row = {TYPE_CODE_STRUCT_ANON, {0}, {}};
  row.operands.insert(row.operands.end(), elements.begin(), elements.end());
  return add(std::move(row));
}

TypeId TypeTable::element(TypeId aggregate, size_t place) const {
  const Row& row = rows_.at(aggregate);
  const bool is_structure = row.code == TYPE_CODE_STRUCT_ANON || row.code == TYPE_CODE_STRUCT_NAMED;
  return static_cast<TypeId>(row.operands.at(is_structure ? place + 1 : 1));
}

TypeId TypeTable::of_structure(llvm::StructType* type) {
  Row row = {type->isLiteral() ? TYPE_CODE_STRUCT_ANON : TYPE_CODE_STRUCT_NAMED, {type->isPacked()}, {}};
  if (type->hasName()) row.name = type->getName().str();
  if (type->isOpaque()) return add({TYPE_CODE_OPAQUE, {0}, row.name});
  for (llvm::Type* element : type->elements()) row.operands.push_back(of(element));
  return add(std::move(row));
}

TypeId TypeTable::of(llvm::Type* type) {
  switch (type->getTypeID()) {
    case llvm::Type::VoidTyID:
      return add({TYPE_CODE_VOID, {}, {}});
    case llvm::Type::HalfTyID:
      return add({TYPE_CODE_HALF, {}, {}});
    case llvm::Type::BFloatTyID:
      return add({TYPE_CODE_BFLOAT, {}, {}});
    case llvm::Type::FloatTyID:
      return add({TYPE_CODE_FLOAT, {}, {}});
    case llvm::Type::DoubleTyID:
      return add({TYPE_CODE_DOUBLE, {}, {}});
    case llvm::Type::LabelTyID:
      return add({TYPE_CODE_LABEL, {}, {}});
    case llvm::Type::MetadataTyID:
      return add({TYPE_CODE_METADATA, {}, {}});
    case llvm::Type::IntegerTyID:
      return add({TYPE_CODE_INTEGER, {type->getIntegerBitWidth()}, {}});
    case llvm::Type::PointerTyID:
      return pointer_to(of(llvm::Type::getInt8Ty(type->getContext())), type->getPointerAddressSpace());
    case llvm::Type::ArrayTyID:
      return array(type->getArrayNumElements(), of(type->getArrayElementType()));
    case llvm::Type::FixedVectorTyID: {
      auto* vector = llvm::cast<llvm::FixedVectorType>(type);
      return add({TYPE_CODE_VECTOR, {vector->getNumElements(), of(vector->getElementType())}, {}});
    }
    case llvm::Type::StructTyID:
      return of_structure(llvm::cast<llvm::StructType>(type));
    case llvm::Type::FunctionTyID: {
      auto* signature = llvm::cast<llvm::FunctionType>(type);
      std::vector<TypeId> parameters;
      for (llvm::Type* parameter : signature->params()) parameters.push_back(of(parameter));
      return function(of(signature->getReturnType()), parameters, signature->isVarArg());
    }
    default:
      break;
  }
  if (unknown_.empty()) llvm::raw_string_ostream(unknown_) << *type;
  return add({TYPE_CODE_VOID, {}, {}});
}

}  // namespace cupola::air
