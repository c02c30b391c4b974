#pragma once

#include <cstdint>
#include "kir/call_reach.h"

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Bytes of local variables of known size along the deepest chain of calls from `function`; 0 where it may recurse. An
/// estimate for cudaFuncGetAttributes; what is used is decided by code generation.
uint64_t local_bytes(llvm::Function& function, const kir::CallReach& reach);

}  // namespace cupola::cpu::build
