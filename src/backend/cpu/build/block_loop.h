#pragma once

#include <cstdint>

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

struct BlockRegions;
struct CoroutineParts;
struct PlacedCode;
struct WideBody;

/// Whether code calls what may read its context, but for the barrier of the block, which it will not call.
bool calls_others(const llvm::Function& code);

/// Code for a warp or a thread that never stops, inlined into a loop over blocks and what of each it is for. A new
/// function that takes what `body`'s code takes; `placed` is that code.
llvm::Function* loop_over_blocks(const WideBody& body, const PlacedCode& placed);

/// The same of code for a warp that stops at barriers, which has been cut there: a loop over the warps for each region.
/// The code of `placed` is gone then.
llvm::Function* loop_over_blocks(const WideBody& body, const PlacedCode& placed, BlockRegions& cut);

/// Shared memory of blocks beside each other is aligned so, and not to more.
inline constexpr uint32_t kSharedAlignment = 1024;

/// Where code for a warp stops.
struct Stops {
  bool at_barriers, in_turns;
  bool beside;  ///< while warps of a block are in turns, the next block's may begin; not where it calls_others
};

/// The same of code for a warp that stops, whose parts are given: each goes on when all others have stopped. Where it
/// stops at barriers and in turns, those at the end of a turn go on first.
llvm::Function* loop_over_blocks(const WideBody& body, const PlacedCode& placed, const CoroutineParts& parts,
                                 const Stops& stops);

/// Code for the inner ones of blocks that take turns (inner_blocks.h).
struct InnerRows {
  const PlacedCode &placed, &look;  ///< look: whether the block is one
};

/// The loop over code that never stops, where blocks beside each other take turns, a row of threads of each and so on
/// with the next row. `inner`: null: there is no such code.
llvm::Function* loop_over_rows(const WideBody& body, const PlacedCode& placed, const InnerRows* inner);

}  // namespace cupola::cpu::build
