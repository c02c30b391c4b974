#pragma once

#include <llvm/ADT/ArrayRef.h>

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

/// Code for more than a thread.
struct WideBody {
  llvm::Function* code = nullptr;  ///< null: there is none
  BlockClass blocks{};
  std::optional<Dim3> shape = {};  ///< of all blocks that it is for
  bool runs_block = false;         ///< all threads of a block; else those of a warp
  /// It does so in pieces, from barrier to barrier (block_regions.h), one block after the other: loops that are worth
  /// to be written out.
  bool is_cut = false;
  bool is_alone = false;  ///< until it runs a block it is code for one thread, which waits for none
  std::string why_not;    ///< code for a warp does not run a block
  /// It has no loop, and what it reads and writes lies in rows: those of blocks beside each other continue each other.
  bool is_rows_only = false;
  /// Hot code would look for runs that accesses may lie in (vector_found_rows.h), have warps take turns
  /// (vector_turns.h) or go in step (rows_in_step.h), or not ask within an array (inner_blocks.h).
  bool leaves_out = false;
  bool writes_far = false;           ///< see writes_far_where_it_meets and writes_rows_far_apart
  bool meets_in_grid_turns = false;  ///< see grid_turns.h
  llvm::SmallVector<OutputTurns, 2> output_turns = {};
};

/// Beside code for all blocks of a shape, see inner_blocks.h.
struct InnerBody {
  llvm::Function* are_inner;  ///< says it of the context's block
  WideBody body;              ///< for the inner ones
  uint32_t least_blocks = 0;  ///< of a grid; code for all blocks runs smaller ones faster
};

/// Says of a function that it runs blocks from their beginning to their end: what they leave in shared memory nobody
/// sees, and nobody calls it with pointers to that.
void mark_whole_blocks(llvm::Function& code);
bool runs_whole_blocks(const llvm::Function& code);

/// Turns code for a warp, or for a thread, into code that runs all of a block, one after the other, where nothing in it
/// waits but at the barrier of all threads (bar.sync 0). There the code stops, to be called again once all other warps
/// have come; what it needs then lies in a frame a warp. That is much cheaper than a stack for each. Warps also let
/// each other on in loops whose turns are far apart (vector_turns.h). After instrument_polling; where it cannot be done
/// the code for a warp stays as it is.
void run_whole_blocks(llvm::Module& module, llvm::ArrayRef<WideBody*> bodies, llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
