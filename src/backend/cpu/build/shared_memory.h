#pragma once

#include <cstdint>

#include <llvm/ADT/DenseMap.h>

#include "base/result.h"

namespace llvm {
class Function;
class GlobalVariable;
class Module;
template <typename T>
class ArrayRef;
}  // namespace llvm

namespace cupola::cpu::build {

class CallReach;

/// Where shared variables lie in a block's shared window.
struct SharedLayout {
  llvm::DenseMap<const llvm::GlobalVariable*, uint64_t> offsets;
  /// Bytes of static shared memory, by kernel. Where the kernel reaches a dynamic array (`extern __shared__`) whose
  /// alignment is above 16, rounded up to it, since dynamic memory begins at the next multiple of 16.
  llvm::DenseMap<const llvm::Function*, uint64_t> static_bytes;
  /// The largest alignment that a variable asks for, by kernel.
  llvm::DenseMap<const llvm::Function*, uint64_t> alignments;
};

/// Two variables that one kernel reaches never overlap; others may. Each takes the lowest offset that is free. Error:
/// NotSupported when a kernel's variables exceed the window.
Result<SharedLayout> lay_out_shared(llvm::Module& module, llvm::ArrayRef<llvm::Function*> kernels,
                                    const CallReach& reach);

/// Replaces shared variables by their offsets, adds the window's base to the address of each access in address space 3
/// and where a shared pointer becomes generic, and subtracts it on the way back. No shared variable is left in the
/// module. Errors: NotSupported for an intrinsic on shared memory that is not known here.
Result<> lower_shared(llvm::Module& module, const SharedLayout& layout);

/// What a kernel's code, after lower_shared, needs its block's shared memory to be aligned to.
uint64_t shared_alignment(const llvm::Function& code);

}  // namespace cupola::cpu::build
