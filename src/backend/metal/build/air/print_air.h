#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::metal::build {

struct Raised;

/// A kernel with what it calls, ready for air::write_bitcode.
struct AirKernel {
  std::string entry;  ///< RaisedKernel::entry: the function's name
  std::unique_ptr<llvm::Module> module;
};

struct AirModules {
  std::vector<AirKernel> kernels;
  unsigned macos = 13;        ///< the oldest system that takes them
  uint32_t msl_version = 30;  ///< and that system's MSL: 3.0
};

/// Kernels take what image/metal_abi.h says. `library`: lib/cupola/air.bc, what calls mean. Kernels with what AIR has
/// no form for, or none up to the version `newest` of MSL, are refused. Errors: NotSupported, InvalidImage, of the
/// whole module.
Result<AirModules> print_air(Raised& raised, std::span<const std::byte> library, uint32_t newest = UINT32_MAX);

/// Leaves bytes in a module as the metadata `name`, which Metal's compiler does not look at.
void leave_note(llvm::Module& module, const std::string& name, std::span<const std::byte> bytes);

}  // namespace cupola::metal::build
