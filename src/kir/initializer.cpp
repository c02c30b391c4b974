#include "kir/initializer.h"

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GlobalValue.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>

namespace cupola::kir {
namespace {

class Renderer {
 public:
  Renderer(const llvm::DataLayout& layout, std::span<std::byte> bytes, const AddressWord& address)
      : layout_(layout), bytes_(bytes), address_(address) {}

  Result<> write(const llvm::Constant& value, uint64_t offset) {
    if (value.isNullValue() || llvm::isa<llvm::UndefValue>(value)) return {};
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&value)) return write_bits(number->getValue(), offset);
    if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(&value))
      return write_bits(number->getValueAPF().bitcastToAPInt(), offset);
    if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(&value)) return write_data(*data, offset);
    if (llvm::isa<llvm::ConstantAggregate>(value)) return write_aggregate(value, offset);
    return write_address(value, offset);
  }

 private:
  Result<> write_bits(const llvm::APInt& bits, uint64_t offset) {
    for (unsigned i = 0; i * 8 < bits.getBitWidth(); ++i) {
      const unsigned count = std::min(8u, bits.getBitWidth() - i * 8);
      bytes_[offset + i] = static_cast<std::byte>(bits.extractBitsAsZExtValue(count, i * 8));
    }
    return {};
  }

  Result<> write_data(const llvm::ConstantDataSequential& data, uint64_t offset) {
    const llvm::StringRef raw = data.getRawDataValues();  // the host is little-endian, as the layout is
    std::memcpy(bytes_.data() + offset, raw.data(), raw.size());
    return {};
  }

  Result<> write_aggregate(const llvm::Constant& value, uint64_t offset) {
    llvm::Type* type = value.getType();
    for (unsigned i = 0; i < value.getNumOperands(); ++i) {
      uint64_t at = offset;
      if (auto* record = llvm::dyn_cast<llvm::StructType>(type))
        at += layout_.getStructLayout(record)->getElementOffset(i);
      else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
        at += i * layout_.getTypeAllocSize(array->getElementType());
      else
        at += i * layout_.getTypeStoreSize(llvm::cast<llvm::VectorType>(type)->getElementType());
      TRY(write(*llvm::cast<llvm::Constant>(value.getOperand(i)), at));
    }
    return {};
  }

  /// An address, perhaps through casts and element offsets, or as an integer.
  Result<> write_address(const llvm::Constant& value, uint64_t offset) {
    const llvm::Value* base = &value;
    llvm::APInt addend(64, 0);
    while (true) {
      if (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(base)) {
        if (!gep->accumulateConstantOffset(layout_, addend)) return refuse(value);
        base = gep->getPointerOperand();
        continue;
      }
      const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(base);
      if (!expression) break;
      switch (expression->getOpcode()) {
        case llvm::Instruction::AddrSpaceCast:
        case llvm::Instruction::BitCast:
        case llvm::Instruction::IntToPtr:
        case llvm::Instruction::PtrToInt:
        case llvm::Instruction::PtrToAddr:
          base = expression->getOperand(0);
          continue;
        case llvm::Instruction::Add:
          if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(expression->getOperand(1))) {
            addend += number->getValue().sextOrTrunc(64);
            base = expression->getOperand(0);
            continue;
          }
          return refuse(value);
        default:
          return refuse(value);
      }
    }
    if (layout_.getTypeStoreSize(value.getType()) != 8) return refuse(value);
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(base))
      return write_bits(number->getValue().zextOrTrunc(64) + addend, offset);
    if (llvm::isa<llvm::ConstantPointerNull>(base)) return write_bits(addend, offset);
    const auto* target = llvm::dyn_cast<llvm::GlobalValue>(base);
    if (!target) return refuse(value);
    return address_(offset, *target, addend.getSExtValue());
  }

  static Result<> refuse(const llvm::Constant& value) {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return fail(ErrorCode::NotSupported, "a variable's initial value is not a constant or an address: {}", text);
  }

  const llvm::DataLayout& layout_;
  std::span<std::byte> bytes_;
  const AddressWord& address_;
};

}  // namespace

Result<> render_initializer(const llvm::Constant& value, const llvm::DataLayout& layout, std::span<std::byte> bytes,
                            const AddressWord& address) {
  return Renderer(layout, bytes, address).write(value, 0);
}

}  // namespace cupola::kir
