#pragma once

#include <cstdint>

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Instructions that a thread runs at most, from a kernel's beginning to its end, as a processor would count them and
/// about; 0 where that is not known: it may go in turns, wait for another thread, call a function or print. Before
/// lower_intrinsics.
uint32_t most_instructions(const llvm::Function& kernel);

}  // namespace cupola::cpu::build
