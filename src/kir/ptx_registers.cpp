#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Module.h>

#include "kir/intrinsics.h"
#include "kir/ptx_instructions.h"

namespace cupola::kir {
namespace {

using llvm::Value;

/// 10, 0x1F, 017, 0b1, 1U, -1, 0f3F800000 (bits of an f32), 0d... (bits of an f64), 1.5
Value* number(llvm::StringRef text, llvm::Type* type, llvm::IRBuilder<>& b) {
  uint64_t bits = 0;
  if ((text.starts_with("0f") || text.starts_with("0F")) && !text.drop_front(2).getAsInteger(16, bits))
    return b.CreateBitCast(b.getInt32(static_cast<uint32_t>(bits)), b.getFloatTy());
  if ((text.starts_with("0d") || text.starts_with("0D")) && !text.drop_front(2).getAsInteger(16, bits))
    return b.CreateBitCast(b.getInt64(bits), b.getDoubleTy());
  const bool negative = text.consume_front("-");
  const llvm::StringRef digits = text.rtrim("uU");
  if (!digits.empty() && !digits.getAsInteger(0, bits)) {
    if (negative) bits = 0 - bits;
    if (type->isIntegerTy())
      return llvm::ConstantInt::get(type->getContext(), llvm::APInt(64, bits).sextOrTrunc(type->getIntegerBitWidth()));
    return nullptr;
  }
  double value = 0;
  if (type->isFloatingPointTy() && llvm::to_float(text, value))
    return llvm::ConstantFP::get(type, negative ? -value : value);
  return nullptr;
}

}  // namespace

Value* PtxRegisters::convert(Value* value, llvm::Type* type) {
  llvm::Type* from = value->getType();
  if (from == type) return value;
  if (from->isPointerTy()) return convert(b.CreatePtrToInt(value, b.getInt64Ty()), type);
  if (from->isIntegerTy() && type->isIntegerTy()) return b.CreateZExtOrTrunc(value, type);
  if (from->getPrimitiveSizeInBits() == type->getPrimitiveSizeInBits()) return b.CreateBitCast(value, type);
  if (type->isIntegerTy())
    return b.CreateZExtOrTrunc(b.CreateBitCast(value, b.getIntNTy(from->getPrimitiveSizeInBits())), type);
  if (from->isIntegerTy())
    return b.CreateBitCast(b.CreateZExtOrTrunc(value, b.getIntNTy(type->getPrimitiveSizeInBits())), type);
  return nullptr;
}

/// "%tid.x": the same words as llvm.nvvm.read.ptx.sreg's, but for a few.
Value* PtxRegisters::read_special(llvm::StringRef name) {
  std::string word = name.str();
  if (name == "WARP_SZ") word = "warpsize";
  for (char& c : word) c = c == '_' ? '.' : c;  // %lanemask_lt
  if (name.starts_with("dynamic") || name.starts_with("total") || name.starts_with("aggr")) word = name.str();
  if (name == "clock_hi") {
    Value* clock = read_special("clock64");
    return clock ? b.CreateTrunc(b.CreateLShr(clock, 32), b.getInt32Ty()) : nullptr;
  }
  const std::string intrinsic = "llvm.nvvm.read.ptx.sreg." + word;
  const llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(intrinsic);
  if (id == llvm::Intrinsic::not_intrinsic) return nullptr;
  return b.CreateIntrinsic(id, {});
}

Value* PtxRegisters::read(llvm::StringRef operand, llvm::Type* type) {
  if (Value* value = find(operand)) return convert(value, type);
  if (operand.consume_front("!")) {
    Value* value = read(operand, type);
    return value ? b.CreateNot(value) : nullptr;
  }
  if (operand == "WARP_SZ") return b.getInt32(32);
  if (operand.consume_front("%")) {
    Value* value = read_special(operand);
    return value ? convert(value, type) : nullptr;
  }
  Value* value = number(operand, type, b);
  return value ? convert(value, type) : nullptr;
}

bool PtxRegisters::write(llvm::StringRef operand, Value* value) {
  if (!value) return false;
  if (operand != "_") values_[operand] = value;
  return true;
}

}  // namespace cupola::kir
