#pragma once

#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <utility>

namespace llvm {
class CallInst;
class DominatorTree;
class Function;
class IRBuilderBase;
class Instruction;
class LoopInfo;
class Value;
}  // namespace llvm

// Loops that go through memory in large steps, as those over a grid do (`i += gridDim.x * blockDim.x`). A warp that
// runs one to its end touches 128 bytes of a page after the other, which no processor fetches ahead. Warps that take
// turns read what lies beside each other. Whether one lets the others on is known when the kernel runs: the mark that
// stands at the end of a turn has it as its operand.

namespace cupola::cpu::build {

class Shapes;

/// The distance from turn to turn, in bytes, from which on warps take turns.
inline constexpr uint64_t kFar = 4096;

/// Marks, and of each the addresses that move far in its loop.
using FarTurns = llvm::SmallVector<std::pair<llvm::CallInst*, llvm::SmallVector<llvm::Value*, 4>>, 4>;

/// Marks innermost loops, which have a preheader and a latch, whose turns may be far apart, and are short.
FarTurns mark_far_turns(llvm::Function& function, llvm::LoopInfo& loops, llvm::DominatorTree& dominators);
/// Removes marks of turns that are not far for all lanes alike, or where lanes beside each other do not touch what lies
/// beside each other.
void keep_turns_of_rows(const FarTurns& turns, const Shapes& shapes);

/// Marks the end of a turn: if `are_far`, other warps may go on first.
llvm::CallInst* mark_turn(llvm::IRBuilderBase& builder, llvm::Value* are_far);
bool is_turn_mark(const llvm::Instruction& instruction);
llvm::SmallVector<llvm::CallInst*, 4> turn_marks(llvm::Function& function);
void remove_turn_marks(llvm::Function& function);

}  // namespace cupola::cpu::build
