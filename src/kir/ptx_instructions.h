#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/IRBuilder.h>

#include "kir/ptx_text.h"

namespace cupola::kir {

/// The registers of one asm statement while its instructions are emitted.
class PtxRegisters {
 public:
  PtxRegisters(llvm::IRBuilder<>& b, llvm::Value* carry, bool is_volatile)
      : b(b), is_volatile(is_volatile), carry_(carry) {}

  /// The operand's value as `type`: a register, "%tid.x", a number. Null if there is no such operand.
  llvm::Value* read(llvm::StringRef operand, llvm::Type* type);
  bool write(llvm::StringRef operand, llvm::Value* value);
  /// The value last written, or null; inputs are written first.
  llvm::Value* find(llvm::StringRef name) const { return values_.lookup(name); }

  llvm::Value* read_carry() { return b.CreateLoad(b.getInt1Ty(), carry_); }
  void write_carry(llvm::Value* bit) { b.CreateStore(bit, carry_); }

  llvm::IRBuilder<>& b;
  const bool is_volatile;  ///< `asm volatile`: what it loads and stores is not merged, moved or left out

 private:
  llvm::Value* read_special(llvm::StringRef name);
  llvm::Value* convert(llvm::Value* value, llvm::Type* type);
  llvm::StringMap<llvm::Value*> values_;
  llvm::Value* carry_;  ///< the function's CC.CF, an i1 in memory: it lives from one asm statement to the next
};

/// Emits one instruction (its guard apart). False if it is not supported. What NVVM has an intrinsic for becomes that;
/// shifts, divisions and conversions are emitted plainly: define_guards and expand_nvvm run afterwards.
bool emit_ptx(const PtxStatement& statement, PtxRegisters& registers);

/// Whether the instruction does nothing but write its first operand, so that a guard can be a select.
bool is_pure_ptx(const PtxStatement& statement);

}  // namespace cupola::kir
