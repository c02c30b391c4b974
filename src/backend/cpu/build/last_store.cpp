#include "backend/cpu/build/last_store.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

namespace cupola::cpu::build {

bool is_last_access(const llvm::StoreInst& store) {
  const auto touches = [](const llvm::Instruction& instruction) { return instruction.mayReadOrWriteMemory(); };
  for (const llvm::Instruction* next = store.getNextNode(); next; next = next->getNextNode())
    if (touches(*next)) return false;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> behind;
  llvm::SmallVector<const llvm::BasicBlock*, 8> work(llvm::successors(store.getParent()));
  while (!work.empty()) {
    const llvm::BasicBlock* block = work.pop_back_val();
    if (!behind.insert(block).second) continue;
    if (llvm::any_of(*block, touches)) return false;
    work.append(llvm::succ_begin(block), llvm::succ_end(block));
  }
  return true;
}

}  // namespace cupola::cpu::build
