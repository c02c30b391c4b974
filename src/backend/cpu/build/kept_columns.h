#pragma once

#include <cstdint>

#include "base/kernel_info.h"

namespace llvm {
class Function;
class StoreInst;
}  // namespace llvm

// Tables of which each block fills a column: counts[digit * blocks + block], a digit for each thread. Its threads'
// words lie in as many lines of the caches, of which the next block writes the next words; with a power of two between
// them they lie in few sets of the first cache, and are gone by then. So a block's last stores are kept in memory of
// its worker, a row for each block, and written with those of the blocks after it: a line of each thread at a time.

namespace cupola::cpu::build {

/// Most blocks whose words are kept: those of a line.
inline constexpr uint32_t kMostKeptBlocks = 16;

/// The kernel's last store if it is such a one, of 32 bits and done by all threads, of blocks of `shape`: one row of
/// whole warps, of at most 256 threads. Null: there is none. Before separate_exits, which brings threads that left to
/// where others go on.
llvm::StoreInst* store_down_a_column(llvm::Function& kernel, const Dim3& shape);

/// Keeps what that store writes, at the end of the shared window, where no launch's shared memory comes. The code goes
/// by the context's kept_blocks and keeps_on. Returns a function that writes a thread's, to be done lane by lane and
/// inlined, which counts as one that may wait: after what asks whether blocks may meet. Null: nothing is kept.
llvm::Function* keep_column(llvm::StoreInst& store, const Dim3& shape);

/// Whether the code does: then blocks must run one after the other.
bool keeps_columns(const llvm::Function& code);

}  // namespace cupola::cpu::build
