#pragma once

#include <cstdint>

#include "base/result.h"

namespace llvm {
class Module;
}

namespace cupola::cpu::build {

/// Replaces the calls of kir's intrinsics by loads from the ThreadContext, calls of services and instructions.
/// `constant_bytes`: module data begins with that many bytes of __constant__ variables.
Result<> lower_intrinsics(llvm::Module& module, uint64_t constant_bytes);

}  // namespace cupola::cpu::build
