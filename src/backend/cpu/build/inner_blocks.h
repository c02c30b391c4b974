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

/// Of a kernel's code for a thread, after prepare_for_lanes, which `code` needs again. `shape`: of all blocks. Nothing:
/// threads are not asked for places, or once at most, which costs little. Both are new functions of the module.
std::optional<InnerBlocks> code_for_inner_blocks(llvm::Function& prepared, const Dim3& shape);

/// A new function that runs as many blocks as its context says, in order: those that are inner by `inner`, the others
/// by `all`, and all of a row of the grid by `all` where less than `least_inner` beside each other are inner. Both run
/// blocks likewise and take what it takes. After lower_intrinsics; `are_inner` is gone then.
llvm::Function* run_inner_blocks_apart(llvm::Function& all, llvm::Function& inner, llvm::Function& are_inner,
                                       uint32_t least_inner);

}  // namespace cupola::cpu::build
