#pragma once

#include "base/result.h"

namespace llvm {
class Module;
}

namespace cupola::kir {

/// Makes operations on half and bfloat round once and keep denormals, whatever this processor's own instructions do,
/// and spares them calls of the C library. NaNs that are made here are 0x7fff, as a GPU's. Error: NotSupported for
/// integers of more than 64 bits that become bfloat.
Result<> expand_narrow_floats(llvm::Module& module);

}  // namespace cupola::kir
