#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::metal::build {

struct Raised;

/// A kernel with what it calls, as a module of AIR (air/bitcode.h).
struct AirKernel {
  std::string name;  ///< of the function: "kernel_" and the program's
  std::vector<std::byte> bitcode;
};

struct AirModules {
  std::vector<AirKernel> kernels;
  unsigned macos = 13;  ///< the oldest system that takes them
};

/// Kernels take what image/metal_abi.h says. `library`: lib/cupola/air.bc, what calls mean. Error: NotSupported, naming
/// the place and what AIR has no form for.
Result<AirModules> print_air(Raised& raised, std::span<const std::byte> library);

}  // namespace cupola::metal::build
