#include "backend/cpu/build/memory_scopes.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace cupola::cpu::build {

void lower_memory_scopes(llvm::Module& module) {
  const llvm::SyncScope::ID block = module.getContext().getOrInsertSyncScopeID("block");
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto scope = llvm::getAtomicSyncScopeID(&instruction);
      if (!scope || *scope == llvm::SyncScope::SingleThread) continue;
      const bool compiler_only = llvm::isa<llvm::FenceInst>(instruction) && *scope == block;
      llvm::setAtomicSyncScopeID(&instruction, compiler_only ? llvm::SyncScope::SingleThread : llvm::SyncScope::System);
    }
}

}  // namespace cupola::cpu::build
