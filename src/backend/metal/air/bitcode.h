#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"

namespace llvm {
class Module;
}

namespace cupola::air {

/// The module as bitcode with typed pointers, as LLVM 14 and Apple's compiler of AIR read it; LLVM 22 itself writes
/// opaque pointers only, which they refuse. Names of values, debug information, metadata of instructions and hints that
/// LLVM 14 does not know are left out. Error: NotSupported, naming what AIR does not have: atomics and fences (AIR has
/// calls for them), aliases, inline assembly, vectors of pointers.
Result<std::vector<std::byte>> write_bitcode(const llvm::Module& module);

}  // namespace cupola::air
