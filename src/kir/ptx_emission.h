#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "kir/ptx_instructions.h"

// Shared by the files that emit inline PTX, a family each.

namespace cupola::kir::ptx {

using llvm::Value;
namespace Id = llvm::Intrinsic;

/// One instruction being emitted. PTX ISA, chapter "Instruction Set".
struct Emission {
  const PtxStatement& statement;
  PtxRegisters& registers;
  llvm::IRBuilder<>& b = registers.b;

  size_t count() const { return statement.operands.size(); }
  bool has(llvm::StringRef word) const {
    return llvm::any_of(statement.words, [&](const std::string& w) { return w == word; });
  }
  llvm::StringRef word(size_t i) const { return i < statement.words.size() ? statement.words[i] : llvm::StringRef(); }
  llvm::StringRef last() const { return statement.words.back(); }
  bool is_signed() const { return last().starts_with("s"); }
  bool is_float() const { return last().starts_with("f"); }

  /// "u32" and its kin; null for words that are no type.
  llvm::Type* type_of(llvm::StringRef word) const {
    if (word == "pred") return b.getInt1Ty();
    if (word == "f16") return b.getHalfTy();
    if (word == "f32") return b.getFloatTy();
    if (word == "f64") return b.getDoubleTy();
    unsigned width = 0;
    if (word.empty() || !llvm::StringRef("usb").contains(word[0]) || word.drop_front().getAsInteger(10, width))
      return nullptr;
    return width == 8 || width == 16 || width == 32 || width == 64 ? b.getIntNTy(width) : nullptr;
  }
  llvm::Type* type() const { return type_of(last()); }
  Value* read(size_t i, llvm::Type* as) const {
    return i < count() && as ? registers.read(statement.operands[i], as) : nullptr;
  }
  Value* read(size_t i) const { return read(i, type()); }
  Value* word32(size_t i) const { return read(i, b.getInt32Ty()); }
  bool write(Value* value, size_t i = 0) const {
    return value && i < count() && registers.write(statement.operands[i], value);
  }
  bool call(Id::ID id, llvm::ArrayRef<Value*> arguments, llvm::ArrayRef<llvm::Type*> overloads = {}) const {
    if (llvm::is_contained(arguments, nullptr)) return false;
    Value* result = b.CreateIntrinsic(id, overloads, arguments);
    return result->getType()->isVoidTy() || write(result);
  }
};

/// Reads sources 1 to N as the instruction's type and writes what `make` gives.
template <typename Make>
inline bool binary(const Emission& e, Make make) {
  Value* x = e.read(1);
  Value* y = e.read(2);
  return x && y && e.write(make(x, y));
}

/// "{a, b}" to its parts.
llvm::SmallVector<llvm::StringRef, 4> parts_of(llvm::StringRef operand);

/// The number of the address space that the instruction names; 0 for global and constant addresses, which are generic
/// ones.
unsigned space_of(const Emission& e);

struct Row {
  const char* name;
  bool (*emit)(const Emission&);
  bool pure;  ///< only writes its first operand
};

llvm::ArrayRef<Row> move_rows();     ///< moves, conversions, comparisons, floating point
llvm::ArrayRef<Row> integer_rows();  ///< integers and bits; the float forms of the same instructions
llvm::ArrayRef<Row> memory_rows();   ///< memory, and threads together

}  // namespace cupola::kir::ptx
