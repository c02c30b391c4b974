#pragma once

#include "base/result.h"

namespace llvm {
class Instruction;
}

namespace cupola::metal::build {

class HeldPointers;

/// Rewrites a load, a store or an atomic operation: its pointer has the space that `pointers` says, pointers among its
/// values are numbers. An address that may lie in several memories is asked which window it lies in, and there is an
/// access for each. True: the instruction has something in its place, and goes. Error: NotSupported, with the place.
Result<bool> rewrite_access(HeldPointers& pointers, llvm::Instruction& instruction);

}  // namespace cupola::metal::build
