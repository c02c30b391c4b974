#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/kernel_info.h"
#include "base/result.h"
#include "cupola/kernel_argument.h"

namespace cupola::tool {

struct KernelRun {
  std::string kernel;
  Dim3 grid, block;
  uint32_t shared_bytes = 0;              ///< dynamic shared memory
  std::vector<KernelArgument> arguments;  ///< buffers hold what the kernel left in them afterwards
};

/// Loads `image` (what cuModuleLoadData takes) with lib/libcuda.so.1, runs the kernel on device 0 and waits. Errors:
/// the driver's, with the compiler's line where the image does not load.
Result<> run_kernel(const std::filesystem::path& libraries, std::span<const std::byte> image, KernelRun& run);

}  // namespace cupola::tool
