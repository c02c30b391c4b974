#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/NoFolder.h>

#include <span>

#include "ptx/lower/module_lowering.h"

namespace cupola::ptx {

using llvm::Value;
namespace Id = llvm::Intrinsic;

/// Folds nothing: to LLVM a shift by 32, a division by zero or a conversion out of range of constants is poison, until
/// kir::prepare has said what it is.
using Builder = llvm::IRBuilder<llvm::NoFolder>;

/// The body of one function, or one inline-PTX string, while its instructions are emitted.
///
/// A register is a stack slot, which SROA later dissolves; within a basic block the value last written is at hand
/// without a load. Errors are collected: an emitting function that cannot go on calls `refuse` and returns, and the
/// first message counts.
class Emission {
 public:
  Emission(ModuleLowering& module, const Function& function, llvm::Function& into, Builder& builder)
      : module(module), f(function), into(into), b(builder) {}

  // -- the instruction being emitted --
  const Form& form() const { return *in->form; }
  std::string_view opcode() const { return in->form->row->opcode; }
  bool has(Modifier modifier) const { return in->form->has(modifier); }
  template <typename... M>
  bool any(M... of) const {
    return in->form->any(of...).has_value();
  }
  Type type() const { return in->form->type(); }  ///< the last type of the form
  Type type(size_t i) const { return in->form->types[i]; }
  size_t count() const { return in->operand_count; }
  const Operand& operand(size_t i) const { return f.operands[in->first_operand + i]; }
  std::span<const Operand> parts(const Operand& whole) const { return {f.operands.data() + whole.index, whole.count}; }
  /// The type that the row gives operand i; where it says "any", the register's.
  Type operand_type(size_t i) const;

  // -- operands --
  /// Operand i as its row's type. Never null: what cannot be read is refused and reads as poison.
  Value* read(size_t i) { return read(operand(i), operand_type(i)); }
  Value* read(size_t i, Type type) { return read(operand(i), type); }
  Value* read(const Operand& operand, Type type);
  /// Writes operand i. The value's LLVM type may differ from the register's in kind (bits are kept) and in width (a
  /// wider register gets a sign- or zero-extended value, by `type`).
  void write(size_t i, Value* value) { write(operand(i), value, operand_type(i)); }
  void write(const Operand& operand, Value* value, Type type);
  /// The address in brackets, operand i, as a pointer of the space's LLVM address space.
  Value* address(size_t i, Space space) { return address(parts(operand(i))[0], space); }
  Value* address(const Operand& base, Space space);
  /// The same address as a generic pointer, which functions of the device library take.
  Value* generic_address(size_t i, Space space) {
    Value* pointer = address(i, space);
    return pointer->getType() == b.getPtrTy() ? pointer : b.CreateAddrSpaceCast(pointer, b.getPtrTy());
  }
  /// A vector's parts; a scalar is its own only part.
  std::span<const Operand> elements(size_t i) const;
  /// Element k of operand i: of a list in braces, or of a register that was declared as a vector; a scalar is its own.
  Operand element(size_t i, unsigned k) const;
  /// An integer constant operand.
  int64_t constant(size_t i) const { return operand(i).value; }

  // -- building --
  llvm::Type* value_type(Type type) const { return module.value_type(type); }
  Value* i32(uint32_t value) { return b.getInt32(value); }
  /// The same bits as another type of the same width, or truncated or extended (by sign if `is_signed`) ones.
  Value* convert(Value* value, llvm::Type* to, bool is_signed = false);
  Value* call(Id::ID id, llvm::ArrayRef<Value*> arguments, llvm::ArrayRef<llvm::Type*> overloads = {}) {
    return b.CreateIntrinsic(id, overloads, arguments);
  }
  /// A function of the device library (src/device), by name; declared with the types of the arguments.
  Value* call_library(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<Value*> arguments);

  /// The function's words that go to the library and come back; one array for all calls, since they do not overlap.
  static constexpr unsigned kWords = 32;
  Value* words();
  Value* word(unsigned index) { return b.CreateConstGEP1_32(b.getInt32Ty(), words(), index); }

  /// "ptx: line 41, column 2: 'wgmma...': <reason>"
  void refuse(std::string_view reason);
  bool failed() const { return !error_.message.empty(); }
  const Error& error() const { return error_; }

  // -- the function --
  Result<> run();  ///< emits the body; the builder stands in its entry block
  /// Storage of a register or a variable (.local, .param, .shared) of the function.
  Value* register_slot(uint32_t index);
  Value* variable_address(uint32_t index);
  /// A variable that someone else made: a parameter.
  void bind_variable(uint32_t index, Value* address) {
    variables_.resize(f.variables.size()), variables_[index] = address;
  }
  llvm::BasicBlock* label(uint32_t index);
  /// Ends the block that is being built with what has just been emitted; what follows starts a new one.
  void start_block(llvm::BasicBlock* block);
  void after_terminator();
  Value* carry_slot();  ///< CC.CF, an i1; made at the first use
  Value* carry() const { return carry_; }
  void bind_carry(Value* slot) { carry_ = slot; }
  void emit_return();
  const TargetList* target_list(const Operand& operand) const;
  const Prototype* prototype(std::string_view label) const;
  bool is_inline = false;           ///< a fragment: leaving the function is refused
  bool flushes_as_a_whole = false;  ///< the functions of the module say so (float_values.h)
  bool is_volatile = false;         ///< `asm volatile`: loads and stores stay as they are
  llvm::BasicBlock* exit_block = nullptr;

  ModuleLowering& module;
  const Function& f;
  llvm::Function& into;
  Builder& b;
  const Instruction* in = nullptr;

 private:
  void emit(const Instruction& instruction);
  Value* read_special(const Operand& operand);
  Value* read_register(const Operand& operand);
  Value* symbol_address(std::string_view name, int64_t offset);
  Value* slot(llvm::Type* type, const llvm::Twine& name, unsigned align = 0);
  void locate(const Instruction& instruction);

  struct Known {
    Value* value = nullptr;
    unsigned block = 0;
  };
  std::vector<Value*> register_slots_;
  std::vector<Known> known_;  ///< the value last written to a register in the block that is being built
  unsigned block_number_ = 1;
  std::vector<Value*> variables_;
  std::vector<llvm::BasicBlock*> labels_;
  Value* carry_ = nullptr;
  uint32_t located_ = 0;
  Error error_{ErrorCode::NotSupported, {}};
};

// One function a value of isa.def's last column; each emits the instruction that `e.in` is.
#define PTX(opcode, version, target, pattern, operands, lowering) void lowering(Emission& e);
namespace emit {
#include "ptx/syntax/isa.def"
}
#undef PTX

}  // namespace cupola::ptx
