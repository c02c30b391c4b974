#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <cstdint>
#include <optional>
#include <string>

#include "backend/cpu/build/output_turns.h"
#include "image/block_class.h"

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

using image::BlockClass;

/// In which order code for more than a thread goes through the warps of blocks.
enum class WarpOrder : uint8_t {
  OneWarp,        ///< it is a warp's, or until run_whole_blocks a thread's
  WarpAfterWarp,  ///< each to its end
  RowAfterRow,    ///< of blocks beside each other: a row of threads of each, or a warp, then the next
  Pieces,         ///< from barrier to barrier (block_regions.h), each for one warp after the other
  PiecesBeside,   ///< the same for the warps of blocks beside each other
  Stops,          ///< a warp stops at barriers in its way, and goes on when all others have stopped
  Turns,          ///< and at the end of turns of loops whose turns are far apart
  TurnsBeside,    ///< the same, and the warps of the next block may begin while those of one are in turns
};

/// For people; null where there is nothing to say.
const char* words_of(WarpOrder order);

/// Code for more than a thread.
struct WideBody {
  llvm::Function* code = nullptr;  ///< null: there is none
  BlockClass blocks{};
  std::optional<Dim3> shape = {};  ///< of all blocks that it is for
  WarpOrder order = WarpOrder::OneWarp;
  bool is_alone = false;  ///< until it runs a block it is code for one thread, which waits for none
  std::string why_not;    ///< code for a warp does not run a block
  /// It has no loop, and what it reads and writes lies in rows, some places of each line at least: those of blocks
  /// beside each other continue each other.
  bool is_rows_only = false;
  bool reads_of_others = false;  ///< such code, see vector_streams.h
  /// Hot code would look for runs that accesses may lie in (vector_found_rows.h), have warps take turns
  /// (vector_turns.h) or go in step (rows_in_step.h), not ask within an array (inner_blocks.h), or have a thread take
  /// several turns at once (turn_vectors.h).
  bool leaves_out = false;
  bool writes_far = false;           ///< see writes_far_where_it_meets and writes_rows_far_apart
  bool meets_in_grid_turns = false;  ///< see grid_turns.h
  llvm::SmallVector<OutputTurns, 2> output_turns = {};

  /// All threads of a block; else those of a warp.
  bool runs_block() const { return order != WarpOrder::OneWarp; }
};

/// Beside code for all blocks of a shape, see inner_blocks.h.
struct InnerBody {
  llvm::Function* are_inner;  ///< says it of the context's block; null, as the body's code, where it is taken in
  WideBody body;              ///< for the inner ones
  uint32_t least_blocks = 0;  ///< of a grid; code for all blocks runs smaller ones faster
  std::string accesses = {};  ///< see report_accesses; empty where nobody asks

  /// The code for all blocks runs these too, by this; there is no function of its own any more.
  bool is_taken_in() const { return !are_inner; }
  void take_in();
};

/// Code for blocks, and beside it for the inner ones of them; null: none.
struct WideCode {
  WideBody* body;
  InnerBody* inner = nullptr;
};

/// Says of a function that it runs blocks from their beginning to their end: what they leave in shared memory nobody
/// sees, and nobody calls it with pointers to that.
void mark_whole_blocks(llvm::Function& code);
bool runs_whole_blocks(const llvm::Function& code);

/// Turns code for a warp, or for a thread, into code that runs all of a block, one after the other, where nothing in it
/// waits but at the barrier of all threads (bar.sync 0). There the code stops, to be called again once all other warps
/// have come; what it needs then lies in a frame a warp. That is much cheaper than a stack for each. Warps also let
/// each other on in loops whose turns are far apart (vector_turns.h). After instrument_polling; where it cannot be done
/// the code for a warp stays as it is. Where both run blocks beside each other row after row, code takes in that for
/// inner ones.
void run_whole_blocks(llvm::Module& module, llvm::ArrayRef<WideCode> all, llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
