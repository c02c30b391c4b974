#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>
#include <span>

#include "base/result.h"

namespace cupola::kir {

/// A function of libdevice's published list.
struct LibdeviceFunction {
  const char* name;  ///< __nv_sinf
  bool flushes;      ///< its float arguments and results are flushed where a program is compiled with -ftz=true
};

/// Makes libdevice of the device library: `module` keeps the listed functions, external, and what these need, internal.
/// Afterwards it holds plain instructions, LLVM's intrinsics that every code generator lowers, and calls of
/// __nvvm_reflect("__CUDA_FTZ"), which the compiler of the program answers; so it is NVVM IR that a program is linked
/// with ("libdevice User's Guide"). Errors: NotSupported, naming a listed function that is
/// not defined or what is neither; InvalidImage.
Result<> to_libdevice(llvm::Module& module, std::span<const LibdeviceFunction> functions,
                      std::span<const std::byte> c_library);

}  // namespace cupola::kir
