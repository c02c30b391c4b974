#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>
#include <span>

#include "base/result.h"

namespace cupola::kir {

struct NvptxOptions {
  uint32_t architecture = 89;                 ///< 90 for sm_90: what __CUDA_ARCH__ is asked for
  std::span<const std::byte> device_library;  ///< bitcode of src/device
  std::span<const std::byte> c_library;  ///< bitcode of src/device's functions of the C library; see c_functions.cu
  bool externs = false;                  ///< what is defined nowhere becomes an extern
  bool relocatable = false;  ///< functions that others may call stay, what is defined nowhere becomes an extern
};

/// The way back: makes a module that LLVM's NVPTX code generator translates with CUDA's meaning. Plain instructions get
/// the guards of define_guards, llvm.nvvm.* intrinsics and inline PTX stay, rows of intrinsics.def become NVVM
/// intrinsics, inline PTX or calls of the functions that GPU drivers provide (vprintf, malloc, free, __assertfail).
/// Contraction is decided here, as in prepare. Errors: NotSupported, naming what has no counterpart, or is defined
/// nowhere where that is asked; InvalidImage.
Result<> to_nvptx(llvm::Module& module, const NvptxOptions& options);

}  // namespace cupola::kir
