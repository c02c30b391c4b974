#pragma once

#include <cstdint>

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Instructions that a thread runs at most, from a kernel's beginning to its end, about: what takes longer than most
/// counts for more. 0 where that is not known or is very many: it may go in turns, wait for another thread, call a
/// function or printf. Before lower_intrinsics.
uint32_t most_instructions(const llvm::Function& kernel);

}  // namespace cupola::cpu::build
