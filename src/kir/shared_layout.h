#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>

#include <cstdint>

#include "base/result.h"

namespace llvm {
class Function;
class GlobalVariable;
class Module;
}  // namespace llvm

namespace cupola::kir {

class CallReach;

/// Where shared variables lie in a block's shared window.
struct SharedLayout {
  llvm::DenseMap<const llvm::GlobalVariable*, uint64_t> offsets;
  /// Bytes of static shared memory, by kernel. Where the kernel reaches a dynamic array (`extern __shared__`) whose
  /// alignment is above the limits' dynamic_alignment, rounded up to it, since dynamic memory begins there.
  llvm::DenseMap<const llvm::Function*, uint64_t> static_bytes;
  /// The largest alignment that a variable asks for, by kernel.
  llvm::DenseMap<const llvm::Function*, uint64_t> alignments;
};

struct SharedLimits {
  uint64_t window = 0;             ///< the most static bytes of a kernel
  uint64_t dynamic_alignment = 0;  ///< dynamic memory begins at the next multiple
};

/// Two variables that one kernel reaches never overlap; others may. Each takes the lowest offset that is free. Error:
/// NotSupported when a kernel's variables exceed the window.
Result<SharedLayout> lay_out_shared(llvm::Module& module, llvm::ArrayRef<llvm::Function*> kernels,
                                    const CallReach& reach, const SharedLimits& limits);

}  // namespace cupola::kir
