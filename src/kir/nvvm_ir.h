#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

namespace cupola::kir {

/// What libNVVM's options say of code ("libNVVM API", nvvmCompileProgram).
struct NvvmOptions {
  bool flush_denormals = false;                                   ///< -ftz=1
  bool contract = true;                                           ///< -fma=1
  bool approximate_roots = false, approximate_quotients = false;  ///< -prec-sqrt=0, -prec-div=0
  bool keep_inline = false;  ///< -g: functions that may be left out where nobody calls them stay for other modules
};

/// On functions of libdevice.bc: kir links the device library's own functions instead, whoever linked these.
inline constexpr char kLibdevice[] = "cupola-libdevice";

/// NVVM IR (bitcode or text, with typed or opaque pointers) to kir: the layout and triple of kir, the intrinsics that
/// only NVVM's own compiler knows as those that LLVM knows, the options as attributes and flags. "NVVM IR
/// Specification". Errors: InvalidImage with LLVM's words, also for what its verifier refuses; UnsupportedPtxVersion
/// for NVVM IR of a newer version than 2; NotSupported for an intrinsic whose mode is no constant.
Result<std::unique_ptr<llvm::Module>> read_nvvm(llvm::LLVMContext& context, std::span<const std::byte> code,
                                                const NvvmOptions& options);

}  // namespace cupola::kir
