#pragma once

#include <llvm/Bitstream/BitstreamWriter.h>
#include <llvm/IR/Constants.h>

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "backend/metal/air/pointees.h"

namespace cupola::air {

using ValueId = uint32_t;
using Values = llvm::SmallVector<uint64_t, 16>;

/// The numbers of a module's globals and constants. Globals come first, then all constants of the module and of its
/// functions. A constant pointer has an entry for each type that it is used with; that of a global is its bitcast.
class ConstantTable {
 public:
  ConstantTable(const llvm::Module& module, TypeTable& types, Pointees& pointees);

  /// The number of a constant as a value of that type.
  ValueId id(const llvm::Constant& constant, TypeId wanted);
  ValueId count() const { return first_ + static_cast<ValueId>(entries_.size()); }
  /// The first constant that bitcode of AIR cannot hold; null if none.
  const llvm::Constant* unknown() const { return unknown_; }

  void write(llvm::BitstreamWriter& out) const;

 private:
  struct Entry {
    TypeId type;
    uint32_t code;  ///< llvm::bitc::CST_CODE_*
    Values values;
  };
  ValueId add(const llvm::Constant& constant, TypeId type, Entry entry);
  ValueId add_bitcast(const llvm::Constant& constant, TypeId from, ValueId value, TypeId wanted);
  Entry entry_of(const llvm::Constant& constant, TypeId type);
  Entry expression(const llvm::ConstantExpr& expression, TypeId type);
  Entry number(const llvm::ConstantInt& integer, TypeId type);

  TypeTable& types_;
  Pointees& pointees_;
  ValueId first_ = 0;
  std::unordered_map<const llvm::GlobalValue*, ValueId> globals_;
  std::map<std::pair<const llvm::Constant*, TypeId>, ValueId> known_;
  std::vector<Entry> entries_;
  const llvm::Constant* unknown_ = nullptr;
};

/// Bitcode's number of a cast or a two-operand operation, by LLVM's opcode; none for what LLVM 14 does not have.
std::optional<unsigned> cast_number(unsigned opcode);
std::optional<unsigned> binary_number(unsigned opcode);

/// An integer with its sign in the lowest bit.
uint64_t with_sign_below(uint64_t value);

/// A record of a text's characters.
void emit_text(llvm::BitstreamWriter& out, unsigned code, llvm::StringRef text);

}  // namespace cupola::air
