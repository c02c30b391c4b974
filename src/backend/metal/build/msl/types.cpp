#include "backend/metal/build/msl/types.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/Support/raw_ostream.h>

#include <cmath>

#include "backend/metal/build/raise/spaces.h"
#include "base/format.h"

namespace cupola::metal::build {
namespace {

std::string words_of(const llvm::Type& type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type.print(out);
  return text;
}

/// Decimal where that says the number exactly, its bits otherwise.
std::string floating(const llvm::APFloat& number, llvm::Type* type) {
  if (type->isHalfTy()) return formatted("as_type<half>(ushort({:#x}))", number.bitcastToAPInt().getZExtValue());
  const float value = number.convertToFloat();
  if (!std::isfinite(value) || std::fpclassify(value) == FP_SUBNORMAL)
    return formatted("as_type<float>({:#x}u)", number.bitcastToAPInt().getZExtValue());
  std::string text = formatted("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

}  // namespace

const char* unsigned_name(unsigned bits) {
  switch (bits) {
    case 1:
      return "bool";
    case 8:
      return "uchar";
    case 16:
      return "ushort";
    case 32:
      return "uint";
    case 64:
      return "ulong";
    default:
      return nullptr;
  }
}

const char* signed_name(unsigned bits) {
  switch (bits) {
    case 8:
      return "char";
    case 16:
      return "short";
    case 32:
      return "int";
    case 64:
      return "long";
    default:
      return nullptr;
  }
}

const char* space_name(unsigned space) {
  switch (space) {
    case kDevice:
      return "device";
    case kConstant:
      return "constant";
    case kThreadgroup:
      return "threadgroup";
    default:
      return "thread";
  }
}

Result<std::string> MslTypes::name(llvm::Type* type) {
  if (type->isVoidTy()) return "void";
  if (type->isFloatTy()) return "float";
  if (type->isHalfTy()) return "half";
  if (type->isBFloatTy()) return "ushort";  // only its bits are moved
  if (type->isPointerTy()) return formatted("{} uchar*", space_name(type->getPointerAddressSpace()));
  if (type->isIntegerTy())
    if (const char* word = unsigned_name(type->getIntegerBitWidth())) return word;
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) return struct_name(structure);
  return fail(ErrorCode::NotSupported, "the type '{}' is not supported", words_of(*type));
}

Result<std::string> MslTypes::pointer_to(llvm::Type* type, unsigned space) {
  TRY(const std::string pointee, name(type));
  return formatted("{} {}*", space_name(space), pointee);
}

Result<std::string> MslTypes::struct_name(llvm::StructType* type) {
  std::string& word = structs_[type];
  if (!word.empty()) return word;
  std::string text;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    TRY(const std::string member, name(type->getElementType(i)));
    text += formatted(" {} f{};", member, i);
  }
  const std::string made = formatted("Values{}", declarations_.size());
  declarations_.push_back(formatted("struct {} {{{} }};\n", made, text));
  structs_[type] = made;
  return made;
}

Result<std::string> MslTypes::constant(const llvm::Constant& constant) {
  llvm::Type* type = constant.getType();
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&constant)) {
    if (type->isIntegerTy(1)) return number->isOne() ? "true" : "false";
    if (type->isIntegerTy(64)) return formatted("{}ul", number->getZExtValue());
    if (type->isIntegerTy(32)) return formatted("{}u", number->getZExtValue());
  }
  TRY(const std::string word, name(type));
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&constant))
    return formatted("{}({}u)", word, number->getZExtValue());
  if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(&constant)) return floating(number->getValueAPF(), type);
  if (type->isStructTy()) {
    std::string text;
    for (unsigned i = 0; i < type->getStructNumElements(); ++i) {
      TRY(const std::string element, this->constant(*constant.getAggregateElement(i)));
      text += (i ? ", " : "") + element;
    }
    return formatted("{}{{{}}}", word, text);
  }
  if (llvm::isa<llvm::UndefValue>(constant) || constant.isNullValue())
    return type->isPointerTy() ? formatted("({})nullptr", word) : formatted("{}(0)", word);
  return fail(ErrorCode::NotSupported, "a constant of type '{}' is not supported", words_of(*type));
}

}  // namespace cupola::metal::build
