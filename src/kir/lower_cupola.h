#pragma once

#include <llvm/IR/Module.h>

#include "base/result.h"

namespace cupola::kir {

/// Replaces the rows of intrinsics.def by inline PTX and by calls of functions that GPU drivers provide. Error:
/// NotSupported, for a row that only Cupola's devices have.
Result<> lower_cupola(llvm::Module& module);

}  // namespace cupola::kir
