#pragma once

#include <optional>

#include "base/kernel_info.h"

namespace llvm {
class Function;
}

// Kernels ask each thread where it is: whether it lies within the array, at its border, has a neighbour. In most blocks
// all threads get the same answer, that of the inside, which a look at the block's first and last threads tells. Code
// for these blocks does without the questions, and without the masks and the other ways that follow from them.

namespace cupola::cpu::build {

/// Code for blocks all of whose threads get the usual answers.
struct InnerBlocks {
  llvm::Function* are_inner;  ///< takes what the kernel takes; for the context's block
  llvm::Function* code;       ///< the kernel's, for these blocks
};

/// Of fewer questions a kernel is as fast with masks, unless code without any takes other ways; of more the look at
/// each block takes long.
inline constexpr size_t kFewestQuestions = 2, kMostQuestions = 16;

/// How often the kernel's code for a thread, after prepare_for_lanes, asks where the thread is. `shape`: of all blocks.
size_t questions_for_places(llvm::Function& prepared, const Dim3& shape);

/// Of such code; `code` needs prepare_for_lanes again. Both are new functions of the module.
InnerBlocks code_for_inner_blocks(llvm::Function& prepared, const Dim3& shape);

/// From how many on inner blocks are run by themselves.
struct LeastBlocks {
  uint32_t in_row;   ///< inner ones beside each other in a row of the grid
  uint32_t of_grid;  ///< all of the grid's, not only those that the call is to run
};

/// A new function that runs as many blocks as its context says, in order: those that are inner by `inner`, the others
/// by `all`, and all of a row of the grid, or of the grid, by `all` where they are less than `least`. Both run blocks
/// likewise and take what it takes. After lower_intrinsics; `are_inner` is gone then.
llvm::Function* run_inner_blocks_apart(llvm::Function& all, llvm::Function& inner, llvm::Function& are_inner,
                                       const LeastBlocks& least);

}  // namespace cupola::cpu::build
