#pragma once

#include <llvm/ADT/DenseMap.h>

#include "backend/metal/build/raise/raise.h"

namespace cupola::metal::build {

/// Functions that Metal cannot have, and why.
using Refusals = llvm::DenseMap<const llvm::Function*, Error>;

/// Kernels that may come to one of these functions are refused with its reason; they lose their code, and the module
/// what only they called.
void refuse(Raised& raised, const Refusals& functions);

/// For a kernel that needs a newer Metal than there is.
Error needs_newer(uint32_t version, uint32_t newest);

}  // namespace cupola::metal::build
