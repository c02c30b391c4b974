#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <unordered_map>

#include "backend/metal/air/typed_types.h"

namespace cupola::air {

/// What each pointer of a module points to, which LLVM 22 no longer says. A pointer whose loads, stores and address
/// calculations agree on a type points to that; one that the code is of two minds about, or that nobody looks through,
/// to i8. Uses that want another type get a bitcast from the writer.
class Pointees {
 public:
  Pointees(const llvm::Module& module, TypeTable& types);

  /// The type of a value of its own: typed for a pointer.
  TypeId type_of(const llvm::Value& value);

  /// The type of what a global variable holds.
  TypeId contents_of(const llvm::GlobalVariable& variable);

  /// The type that an instruction's operand must have.
  TypeId wanted(const llvm::Instruction& user, unsigned operand);

  struct Signature {
    TypeId type, result;
    std::vector<TypeId> parameters;
  };
  const Signature& signature_of(const llvm::Function& function) { return signatures_.at(&function); }
  /// That of the function that is called; of a call through a pointer, the one that its type says.
  Signature signature_of(const llvm::CallBase& call);

 private:
  TypeId pointee_of(const llvm::Value& value);
  TypeId pointee_from_uses(const llvm::Value& value);
  void add_signature(const llvm::Function& function);
  TypeId agreed_argument(const llvm::Function& function, const llvm::Argument& parameter);

  TypeTable& types_;
  std::unordered_map<const llvm::Value*, TypeId> pointees_;
  std::unordered_map<const llvm::Function*, Signature> signatures_;
};

}  // namespace cupola::air
