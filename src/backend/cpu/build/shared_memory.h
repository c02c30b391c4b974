#pragma once

#include <cstdint>

#include "base/result.h"
#include "kir/shared_layout.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace cupola::cpu::build {

/// Replaces shared variables by their offsets, adds the window's base to the address of each access in address space 3
/// and where a shared pointer becomes generic, and subtracts it on the way back. No shared variable is left in the
/// module. Errors: NotSupported for an intrinsic on shared memory that is not known here.
Result<> lower_shared(llvm::Module& module, const kir::SharedLayout& layout);

/// What a kernel's code, after lower_shared, needs its block's shared memory to be aligned to.
uint64_t shared_alignment(const llvm::Function& code);

}  // namespace cupola::cpu::build
