#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>
#include <span>

#include "base/result.h"

// Where there is no C library (PTX, libdevice), its functions are those of c_library.bc (src/device/c_functions.cu).

namespace cupola::kir {

/// Calls by their C names what LLVM's intrinsics (llvm.sin) and frem compute through the C library.
void call_c_functions(llvm::Module& module);

/// Links the functions of the C library that the module calls. Error: InvalidImage, when `bitcode` is not bitcode.
Result<> link_c_library(llvm::Module& module, std::span<const std::byte> bitcode);

}  // namespace cupola::kir
