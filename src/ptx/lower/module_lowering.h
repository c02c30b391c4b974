#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Module.h>

#include <unordered_map>

#include "base/result.h"
#include "ptx/syntax/ast.h"

namespace cupola::ptx {

/// A PTX module on its way into an LLVM module: types, symbols, signatures.
class ModuleLowering {
 public:
  ModuleLowering(const Module& module, llvm::Module& into) : m(module), out(into) {}

  Result<> declare();  ///< all variables and functions, with their initial values
  Result<> lower_bodies();

  llvm::LLVMContext& context() const { return out.getContext(); }

  /// The value type of a PTX type: i1, iN, half, bfloat, float, double, <2 x half> and so on.
  llvm::Type* value_type(Type type) const;
  /// What a parameter or result of this declaration is in a signature; null stands for "by value in memory" (byval).
  llvm::Type* scalar_type(const Variable& variable) const;
  llvm::FunctionType* signature(const std::vector<Variable>& results, const std::vector<Variable>& parameters) const;
  /// Marks the parameters of a declaration or a call that are passed in memory.
  template <typename FunctionOrCall>
  void mark_by_value(FunctionOrCall& callee, const std::vector<Variable>& parameters) const;

  /// A function or variable of the module, or null.
  llvm::GlobalValue* symbol(std::string_view name) const;
  const Function* function_named(std::string_view name) const { return functions_.lookup(name); }
  /// A variable of a function that lives as long as the module: .shared, .global, .const.
  llvm::GlobalVariable* make_variable(const Variable& variable, const llvm::Twine& name);
  Result<> initialise(const Variable& variable, llvm::GlobalVariable& global);

  llvm::DIFile* file(uint32_t number);
  llvm::DISubprogram* subprogram(const Function& function, llvm::Function& into);

  const Module& m;
  llvm::Module& out;

 private:
  llvm::Function* declare_function(const Function& function);
  void keep_named_variables();
  Result<> declare_alias(const Alias& alias);
  size_t line_of(std::string_view name) const;
  Result<llvm::Constant*> address_constant(const Variable& variable, const Initial& value, llvm::Type* type) const;

  llvm::StringMap<llvm::GlobalValue*> symbols_;
  llvm::StringMap<const Function*> functions_;
  std::unique_ptr<llvm::DIBuilder> debug_;
  llvm::DICompileUnit* unit_ = nullptr;
  std::unordered_map<uint32_t, llvm::DIFile*> files_;  ///< the text chooses the numbers: any may come
};

/// The number of LLVM's address space. Local and parameter addresses are generic ones here.
unsigned address_space(Space space);

/// The bytes of a variable as an LLVM type: an array of its elements.
llvm::Type* memory_type(const ModuleLowering& lowering, const Variable& variable);

template <typename FunctionOrCall>
void ModuleLowering::mark_by_value(FunctionOrCall& callee, const std::vector<Variable>& parameters) const {
  for (unsigned i = 0; i < parameters.size(); ++i) {
    if (scalar_type(parameters[i])) continue;
    callee.addParamAttr(i, llvm::Attribute::getWithByValType(context(), memory_type(*this, parameters[i])));
    callee.addParamAttr(i, llvm::Attribute::getWithAlignment(context(), llvm::Align(parameters[i].alignment())));
  }
}

}  // namespace cupola::ptx
