#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "doubles/msl/msl_program.h"

// A double of what Metal makes of compiled kernels: modules of AIR become code of this machine through LLVM, AIR's
// functions are those of functions.cpp, and threads run as they do for MSL (doubles/msl).

namespace cupola::doubles {

/// A kernel of a container, in a module of its own.
struct AirFunction {
  std::string name;
  std::span<const std::byte> module;  ///< bitcode, in Apple's wrapper or not
};

/// Error: InvalidSource for modules that LLVM does not read, that define no such kernel, or that call, or take as an
/// argument, what the double does not have.
Result<std::shared_ptr<MslProgram>> compile_air(std::span<const AirFunction> functions);

}  // namespace cupola::doubles
