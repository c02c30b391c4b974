#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>

namespace llvm {
class Function;
class Instruction;
class Loop;
class LoopInfo;
class TargetMachine;
}  // namespace llvm

// What the frame of a coroutine holds, and where it is read and written.

namespace cupola::cpu::build {

/// Splitting reads the frame in each block that needs a value and writes it where the value is computed. After this,
/// loops in which the coroutine does not stop take what they need before they begin and leave the rest to registers.
void keep_frame_out_of_loops(llvm::Function& coroutine, llvm::TargetMachine& machine);

/// The outermost loops without an instruction that `stops`.
llvm::SmallVector<llvm::Loop*, 8> loops_between_stops(llvm::LoopInfo& loops,
                                                      llvm::function_ref<bool(const llvm::Instruction&)> stops);

/// Cheap to compute anew, rather than kept in the frame.
bool is_recomputed(llvm::Instruction& instruction);

}  // namespace cupola::cpu::build
