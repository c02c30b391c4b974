#pragma once

#include <cstdint>

#include "base/result.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace cupola::cpu::build {

/// Replaces the calls of kir's intrinsics by loads from the ThreadContext, calls of services and instructions.
/// `constant_bytes`: module data begins with that many bytes of __constant__ variables.
Result<> lower_intrinsics(llvm::Module& module, uint64_t constant_bytes);

/// The same for one function, of the intrinsics only that tell from an address where it lies.
void lower_address_questions(llvm::Function& function, uint64_t constant_bytes);

}  // namespace cupola::cpu::build
