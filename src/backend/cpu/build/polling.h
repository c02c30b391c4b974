#pragma once

#include <llvm/ADT/SmallVector.h>
#include "kir/call_reach.h"

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class Module;
}  // namespace llvm

namespace cupola::cpu::build {

/// Puts `if (--context->fuel <= 0) services->poll(context)` at the end of each turn of a loop, natural or irreducible,
/// that may wait for another thread: it holds a volatile or atomic access or a fence, itself or in a function it calls,
/// and its exits depend on what it loads, other than by a compare-and-swap retry; or it has no exit. Other threads
/// cannot end any other loop, so those run to their end without asking.
void instrument_polling(llvm::Module& module, const kir::CallReach& reach);

/// Says of a loop, by the branch at the end of its turn, that it is known not to wait: the code that it was made of is.
void mark_as_not_waiting(llvm::Instruction& branch);

/// The headers of such loops in a function.
llvm::SmallVector<llvm::BasicBlock*, 4> waiting_loops(llvm::Function& function, const kir::CallReach& reach);

}  // namespace cupola::cpu::build
