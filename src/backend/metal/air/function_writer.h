#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <unordered_map>

#include "backend/metal/air/attributes.h"
#include "backend/metal/air/constants.h"

namespace cupola::air {

/// Writes the code of one function: its instructions, with a bitcast before each use of a pointer that wants another
/// type than the pointer has.
class FunctionWriter {
 public:
  FunctionWriter(const llvm::Function& function, TypeTable& types, Pointees& pointees, ConstantTable& constants,
                 AttributeTable& attributes);

  /// Error: NotSupported, naming the instruction, for what AIR or LLVM 14 does not have.
  Result<> write(llvm::BitstreamWriter& out);

 private:
  /// A pointer as another type. Bitcasts stand before the instruction that wants them, those of phis at the end of the
  /// block that the value comes from.
  struct Bitcast {
    const llvm::Value* value;
    TypeId type;
    ValueId id = 0;
  };
  using Place = std::pair<const llvm::User*, unsigned>;  ///< an instruction's operand

  void plan();
  void plan_phi(const llvm::PHINode& phi);
  void plan_operands(const llvm::Instruction& instruction);
  void number();

  ValueId id_of(const llvm::Value& value, TypeId wanted);
  ValueId operand_id(const llvm::Instruction& user, unsigned operand);
  void push(Values& record, const llvm::Instruction& user, unsigned operand);
  void push_with_type(Values& record, const llvm::Instruction& user, unsigned operand);
  uint64_t block_id(const llvm::Value* block) const { return blocks_.at(block); }

  void write_bitcast(llvm::BitstreamWriter& out, const Bitcast& bitcast);
  Result<> write_instruction(llvm::BitstreamWriter& out, const llvm::Instruction& instruction);
  Result<uint32_t> record_of(const llvm::Instruction& instruction, Values& record);
  uint32_t branch(const llvm::Instruction& instruction, Values& record);
  uint32_t switch_record(const llvm::SwitchInst& chosen, Values& record);
  uint32_t phi_record(const llvm::PHINode& phi, Values& record);
  uint32_t call_record(const llvm::CallBase& call, Values& record);
  uint32_t memory_record(const llvm::Instruction& instruction, Values& record);
  uint32_t room_record(const llvm::AllocaInst& room, Values& record);

  const llvm::Function& function_;
  TypeTable& types_;
  Pointees& pointees_;
  ConstantTable& constants_;
  AttributeTable& attributes_;
  std::unordered_map<const llvm::Value*, uint64_t> blocks_;
  std::unordered_map<const llvm::Value*, ValueId> values_;
  std::unordered_map<const llvm::Instruction*, std::vector<Bitcast>> before_;  ///< the instruction
  std::map<Place, std::pair<const llvm::Instruction*, size_t>> casts_;         ///< where it stands in before_
  ValueId next_ = 0;  ///< the number of the value that the next instruction makes
};

}  // namespace cupola::air
