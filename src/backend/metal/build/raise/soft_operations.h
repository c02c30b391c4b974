#pragma once

#include <llvm/ADT/StringRef.h>

#include "base/result.h"

namespace llvm {
class Module;
}

namespace cupola::metal::build {

/// What the functions of src/device/metal/soft_doubles.cu are called: "cupola_f64_add".
inline constexpr llvm::StringLiteral kSoftPrefix = "cupola_f64_";

/// Turns every operation on doubles into calls of soft_doubles.cu's functions, which are declared, or into operations
/// on bits. Afterwards doubles are only moved: loaded, stored, passed, selected, cast to bits and back. Error:
/// NotSupported, for what has no such function.
Result<> call_soft_operations(llvm::Module& module);

}  // namespace cupola::metal::build
