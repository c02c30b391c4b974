#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <utility>

namespace llvm {
class CallInst;
class DominatorTree;
class Function;
class IRBuilderBase;
class Instruction;
class Loop;
class LoopInfo;
class SCEV;
class Value;
}  // namespace llvm

// Loops that go through memory in large steps, as those over a grid do (`i += gridDim.x * blockDim.x`). A warp that
// runs one to its end touches 128 bytes of a page after the other, which no processor fetches ahead. Warps that take
// turns read what lies beside each other. Whether one lets the others on is known when the kernel runs: the mark that
// stands at the end of a turn has it as its operand.

namespace cupola::cpu::build {

class Evolution;
class Lanes;
class Shapes;

/// The distance from turn to turn, in bytes, from which on warps take turns.
inline constexpr uint64_t kFar = 4096;

/// The loop goes through rows of memory: in each turn lanes touch what lies beside each other from an address on, and
/// in the next what lies `step` bytes further on.
struct FarRow {
  llvm::Value* address;  ///< of the turn, known at its end; of a thread, or of a warp's first lane
  llvm::Value* step;     ///< known before the loop
  uint64_t bytes = 0;    ///< that the lanes touch; 0: of a thread's code, not known yet
};
using FarRows = llvm::SmallVector<FarRow, 4>;

/// Marks, and of each the addresses that move far in its loop.
using FarTurns = llvm::SmallVector<std::pair<llvm::CallInst*, llvm::SmallVector<llvm::Value*, 4>>, 4>;

/// Innermost loops with a preheader and a latch, whose turns are short: they wait for memory more than they compute,
/// and meet nobody.
llvm::SmallVector<llvm::Loop*, 8> short_loops(llvm::LoopInfo& loops);
/// That a warp takes before others go on, a power of two, where each reads so many rows.
uint32_t turns_at_a_time(size_t rows);
/// A step of less than kFar bytes for certain, or one that the whole block goes as its threads are: the turns of all
/// its warps lie beside each other whatever their order.
bool is_near(const llvm::SCEV* step);

/// Marks short loops whose turns may be far apart.
FarTurns mark_far_turns(Evolution& evolution, llvm::LoopInfo& loops, const llvm::DominatorTree& dominators);
/// Removes marks of turns that are not far for all lanes alike, or where lanes beside each other do not touch what lies
/// beside each other. Returns whether there are others; where warps go to the end, removes them too.
bool keep_turns_of_rows(const FarTurns& turns, const Shapes& shapes, bool to_the_end);

/// Whether threads of a block meet in the loop, in the kernel.
bool meets(const llvm::Loop& loop);
bool meets(const llvm::Function& function);
/// Whether threads of a block meet in a loop whose turns each write further on in memory, maybe far: what they read and
/// write goes through the caches and does not come back.
bool writes_far_where_it_meets(Evolution& evolution, const llvm::LoopInfo& loops);

/// Whether a kernel without loops writes rows of threads that lie apart, maybe far: each block has its part of them.
bool writes_rows_far_apart(llvm::Function& kernel, Evolution& evolution, const llvm::LoopInfo& loops);

/// Marks the end of a turn: if `are_far`, other warps may go on first. `rows`: some that it goes through.
llvm::CallInst* mark_turn(llvm::IRBuilderBase& builder, llvm::Value* are_far, llvm::ArrayRef<FarRow> rows);
llvm::Value* are_far(const llvm::CallInst& mark);
FarRows rows_of(const llvm::CallInst& mark);
/// Where the end of a turn is written for a warp: the mark of it.
void widen_turn_mark(Lanes& lanes, const llvm::CallInst& mark);
/// Has what the next `turns` turns read of the rows brought into the cache, as far as they are there.
void fetch_ahead(llvm::IRBuilderBase& builder, llvm::ArrayRef<FarRow> rows, uint32_t turns);

bool is_turn_mark(const llvm::Instruction& instruction);
llvm::SmallVector<llvm::CallInst*, 4> turn_marks(llvm::Function& function);
void remove_turn_marks(llvm::Function& function);

}  // namespace cupola::cpu::build
