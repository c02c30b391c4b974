#include "backend/cpu/build/unread_shared_memory.h"

#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>

#include "backend/cpu/build/shared_window.h"

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;
using llvm::Value;

/// Nothing reads what they write, and it lies in the window for certain.
llvm::SmallVector<Instruction*, 16> unread_stores(llvm::Function& code) {
  const auto accesses = accesses_of_window(code);
  llvm::SmallVector<Instruction*, 16> unread;
  if (!accesses) return unread;
  const auto is_read = [&](const WindowRange& range) {
    return llvm::any_of(*accesses,
                        [&](const WindowAccess& other) { return !other.writes && overlap(range, other.range); });
  };
  for (const WindowAccess& access : *accesses)
    if (access.writes && is_inside(access.range) && !is_read(access.range)) unread.push_back(access.instruction);
  return unread;
}

}  // namespace

void drop_unread_shared_stores(llvm::Function& code) {
  for (Instruction* store : unread_stores(code)) {
    llvm::SmallVector<llvm::WeakTrackingVH, 4> operands;
    for (Value* operand : store->operands())
      if (llvm::isa<Instruction>(operand)) operands.emplace_back(operand);
    store->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(operands);
  }
}

}  // namespace cupola::cpu::build
