#pragma once

#include "backend/metal/metallib/container.h"

namespace cupola::metallib {

/// A function of the container that is to be made, with the module of bitcode that holds it.
struct FunctionSource {
  std::string name;
  FunctionKind kind = FunctionKind::Kernel;
  Bytes bitcode;  ///< as LLVM writes it, or already in Apple's wrapper
  /// What the module was made for; the target's where not given.
  std::optional<Version> air, language;
};

struct BuildTarget {
  OsVersion macos = {kDefaultMacos};  ///< the oldest system that must take it
};

/// A container for that system: the same bytes for the same input. Errors: InvalidValue for names that are empty, there
/// twice or hold a zero byte, for bytes that are no bitcode, and for AIR or MSL that the system does not know;
/// NotSupported for systems before those of versions.def.
Result<std::vector<std::byte>> build(std::span<const FunctionSource> functions, const BuildTarget& target = {});

/// The module in Apple's wrapper, padded to 16 bytes as Apple's compiler does. What is wrapped stays as it is.
std::vector<std::byte> wrapped(Bytes bitcode);

}  // namespace cupola::metallib
