#pragma once

#include <llvm/ADT/DenseMap.h>

#include <string>

#include "backend/metal/build/msl/helpers.h"
#include "backend/metal/build/msl/structure.h"
#include "backend/metal/build/msl/types.h"
#include "base/result.h"

namespace llvm {
class CallInst;
class Function;
class Instruction;
class LoadInst;
class StoreInst;
class Value;
}  // namespace llvm

namespace cupola::metal::build {

/// What the functions of a module share while they are printed.
struct MslModule {
  MslTypes types;
  MslHelpers helpers;
  llvm::DenseMap<const llvm::Function*, std::string> names;  ///< of defined functions, in MSL
  uint32_t version = 30;                                     ///< the lowest that has what was printed so far
};

/// Prints the body of one function.
class FunctionPrinter {
 public:
  FunctionPrinter(MslModule& module, llvm::Function& function) : module_(module), function_(function) {}

  /// "uint k(thread const Thread& t, uint a0)", without what a kernel has instead.
  Result<std::string> signature();

  /// The statements, indented by one step. Error: NotSupported, with the place.
  Result<std::string> body();

 private:
  Result<> print(const std::vector<Statement>& statements);
  Result<> print(const Statement& statement);
  Result<> print_block(llvm::BasicBlock& block);
  Result<> print_copies(llvm::BasicBlock& from, llvm::BasicBlock& to);
  Result<> print_instruction(llvm::Instruction& instruction);
  Result<> declare_variables();

  bool folds(const llvm::Value& value) const;
  Result<std::string> operand(const llvm::Value& value);
  Result<std::string> expression(const llvm::Instruction& instruction);
  Result<std::string> arithmetic(const llvm::Instruction& instruction);
  Result<std::string> comparison(const llvm::Instruction& instruction);
  Result<std::string> conversion(const llvm::Instruction& instruction);
  Result<std::string> place(const llvm::Value& pointer, llvm::Type* type, bool is_volatile,
                            const llvm::Instruction& access);
  Result<std::string> atomic_word(const llvm::Value& pointer);
  Result<std::string> atomic_load(const llvm::LoadInst& load);
  Result<std::string> atomic_store(const llvm::StoreInst& store, const std::string& value);
  Result<std::string> index_text(const llvm::Value& index);
  Result<std::string> offset(const llvm::Instruction& gep);
  Result<std::string> atomic(const llvm::Instruction& instruction);
  std::string use_locked(const std::string& word, unsigned operation, const std::string& value,
                         const std::string& expected = "0ul");
  Result<std::string> locked(const llvm::Instruction& instruction, const std::string& word, const std::string& value);
  Result<std::string> call(const llvm::CallInst& call);
  Result<std::string> kir_call(const llvm::CallInst& call);
  Result<std::string> metal_call(const llvm::CallInst& call);
  Result<std::string> core_call(const llvm::CallInst& call);
  Result<std::string> arguments(const llvm::CallInst& call, size_t first = 0);

  Result<std::string> typed(llvm::Type* type, const llvm::Instruction& at);
  std::unexpected<Error> refuse(const llvm::Instruction& instruction, std::string_view what) const;
  std::string name(const llvm::Value& value);
  void line(std::string_view text);
  void source_line(const llvm::Instruction& instruction);

  MslModule& module_;
  llvm::Function& function_;
  llvm::DenseMap<const llvm::Value*, std::string> names_;
  std::string text_;
  unsigned depth_ = 1, values_ = 0, last_line_ = 0;
};

}  // namespace cupola::metal::build
