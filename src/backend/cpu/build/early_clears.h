#pragma once

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Where code clears (or sets to what it knows) much of its block's shared memory at a time, moves each of these stores
/// to behind the last thing before it that reads or writes the same memory: counters that warps have read their rows
/// of, between which they did other work. A processor's queue of stores, 64 on Zen 4, is full of the clearing of a few
/// KiB, which takes as long as memory of 32 bytes a cycle; beside reads, shuffles and stores elsewhere it takes less.
/// For the end.
void clear_early(llvm::Function& code);

}  // namespace cupola::cpu::build
