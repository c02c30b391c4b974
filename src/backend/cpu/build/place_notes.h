#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class Function;
class StoreInst;
}  // namespace llvm

namespace cupola::cpu::build {

/// What the code of blocks reads and writes is never where its context notes, for a fault, which block and which warp
/// of it run: LLVM may keep what one warp wrote in registers until the next one reads it. `notes`: the stores that do
/// so in `code`.
void tell_notes_apart(llvm::Function& code, llvm::ArrayRef<llvm::StoreInst*> notes);

/// Removes notes in whose place others are made before anything is done that could fail or tell, whichever way the code
/// goes, and the loops that did nothing else. For the end.
void drop_overwritten_notes(llvm::Function& code, llvm::FunctionAnalysisManager& analyses);

}  // namespace cupola::cpu::build
