#include "compile/separate_units.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <span>

namespace cupola {
namespace {

constexpr llvm::StringRef kReferences = "__clang_gpu_used_external";

/// Of the file and its options, or of -cuid: 64 bits without leading zeros, so that seven digits are a chance of 2^-36;
/// a program's own name may well have fewer.
bool is_hash(llvm::StringRef text) {
  return text.size() >= 7 && text.find_first_not_of("0123456789abcdef_") == llvm::StringRef::npos;
}

/// The name that an internal variable or kernel had before clang made it visible to other modules; empty for others.
llvm::StringRef plain_name(const llvm::GlobalObject& definition) {
  if (definition.isDeclaration() || definition.hasLocalLinkage()) return {};
  const llvm::StringRef mark = llvm::isa<llvm::Function>(definition) ? "__intern__" : "__static__";
  const auto [plain, hash] = definition.getName().rsplit(mark);
  return is_hash(hash) ? plain : llvm::StringRef();
}

}  // namespace

void unite_internal_names(llvm::Module& module) {
  for (llvm::GlobalObject& definition : module.global_objects()) {
    llvm::GlobalValue* plain = module.getNamedValue(plain_name(definition));
    if (!plain || !plain->isDeclaration() || plain->getType() != definition.getType()) continue;
    plain->replaceAllUsesWith(&definition);
    plain->eraseFromParent();
  }
}

void drop_external_references(llvm::Module& module) {
  llvm::removeFromUsedLists(
      module, [](llvm::Constant* used) { return used->stripPointerCasts()->getName().starts_with(kReferences); });
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals()))
    if (variable.getName().starts_with(kReferences) && variable.use_empty()) variable.eraseFromParent();
}

}  // namespace cupola
