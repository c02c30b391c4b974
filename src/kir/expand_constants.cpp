#include "kir/expand_constants.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

namespace cupola::kir {

void expand_constants(llvm::Module& module) {
  for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(module.aliases())) {
    alias.replaceAllUsesWith(alias.getAliasee());
    alias.eraseFromParent();
  }
  llvm::SmallVector<llvm::Constant*, 64> globals;
  for (llvm::GlobalVariable& global : module.globals()) globals.push_back(&global);
  for (llvm::Function& function : module) globals.push_back(&function);
  llvm::convertUsersOfConstantsToInstructions(globals);
}

}  // namespace cupola::kir
