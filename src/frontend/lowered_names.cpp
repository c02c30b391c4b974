#include "frontend/lowered_names.h"

#include <llvm/IR/GlobalVariable.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "kir/address_space.h"

namespace cupola::frontend {
namespace {

std::string variable_of(size_t index) {
  return formatted("__cupola_named_{}", index);
}

/// A name stands for the address of what it names; an address stands for itself.
std::string address_of(const std::string& expression) {
  const size_t begin = expression.find_first_not_of(" \t\n\r");
  const std::string text = begin == std::string::npos ? "" : expression.substr(begin);
  const bool address = text.starts_with('&') || text.starts_with('(') || text.starts_with("static_cast");
  return address ? text : "&" + text;
}

/// What a variable holds at first is not what it holds later, when the host has written to it.
void let_host_write(llvm::GlobalValue& named) {
  auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&named);
  if (!variable) return;
  const bool is_const = variable->isConstant() && variable->getAddressSpace() != kir::kConstantSpace;
  if (!is_const) variable->setExternallyInitialized(true);
}

/// "c" for "_ZL1c", a static variable of no namespace; empty for other symbols.
llvm::StringRef plain_name(llvm::StringRef symbol) {
  size_t length = 0;
  if (!symbol.consume_front("_ZL") || symbol.consumeInteger(10, length)) return {};
  return symbol.size() == length ? symbol : llvm::StringRef();
}

/// The host finds it by name then.
void make_visible(llvm::GlobalValue& named) {
  let_host_write(named);
  if (named.hasLocalLinkage()) named.setLinkage(llvm::GlobalValue::ExternalLinkage);
  if (named.hasLinkOnceLinkage()) named.setLinkage(llvm::GlobalValue::WeakODRLinkage);
}

}  // namespace

void name_static_variables(llvm::Module& module) {
  for (llvm::GlobalVariable& variable : module.globals()) {
    const std::string name = plain_name(variable.getName()).str();
    if (!variable.hasInternalLinkage() || name.empty() || module.getNamedValue(name)) continue;
    variable.setName(name);
    let_host_write(variable);
    llvm::appendToCompilerUsed(module, {&variable});
  }
}

std::string naming_text(const std::vector<std::string>& expressions) {
  std::string text;
  for (size_t i = 0; i < expressions.size(); ++i)
    text += formatted(
        "\n# 1 \"name expression\"\nextern \"C\" {{ __device__ const void* {} = (const void*)(\n"
        "# 1 \"name expression\"\n{}\n); }}",
        variable_of(i), address_of(expressions[i]));
  return text;
}

Result<std::vector<std::string>> take_lowered_names(llvm::Module& module, const std::vector<std::string>& expressions) {
  std::vector<std::string> names;
  for (size_t i = 0; i < expressions.size(); ++i) {
    llvm::GlobalVariable* variable = module.getNamedGlobal(variable_of(i));
    llvm::Constant* value = variable && variable->hasInitializer() ? variable->getInitializer() : nullptr;
    auto* named = value ? llvm::dyn_cast<llvm::GlobalValue>(value->stripPointerCasts()) : nullptr;
    if (!named)
      return fail(ErrorCode::InvalidValue, "the name expression \"{}\" names no function and no variable",
                  expressions[i]);
    make_visible(*named);
    names.push_back(named->getName().str());
    llvm::removeFromUsedLists(module, [&](llvm::Constant* used) { return used->stripPointerCasts() == variable; });
    variable->eraseFromParent();
    llvm::appendToCompilerUsed(module, {named});
  }
  return names;
}

}  // namespace cupola::frontend
