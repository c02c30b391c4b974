#pragma once

#include <llvm/ADT/ArrayRef.h>

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

struct OutputTurns;

/// Lets wide stores of large outputs go past the caches: what is written once, by a grid that writes more than they
/// hold, need not be read into them first. `code` runs blocks and takes the context and the kernel's arguments; a store
/// is one, or some one after the other, that fill lines of memory that an argument points at and nothing in the code
/// reads through it. Which way it goes is decided when the code runs, by the grid's size and shape, in how many turns
/// its threads write, and the address. Nothing is done where the code could let others know what it has written before
/// it returns: atomics, fences, volatile accesses, calls. `of_warp`: all that a warp writes, where `code` has two ways
/// for warps that do the same; takes what `code` takes. Null: `code` itself.
void stream_large_outputs(llvm::Function& code, llvm::ArrayRef<OutputTurns> turns, llvm::Function* of_warp = nullptr);

}  // namespace cupola::cpu::build
