#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::metal {

/// A kernel of a container, to Metal.
struct TriedKernel {
  std::string name;
  std::string refusal;  ///< Metal's words; empty if it made a pipeline
  uint64_t max_threads = 0, simd_width = 0;
};

struct TriedLibrary {
  std::string device;   ///< whose Metal it is
  std::string refusal;  ///< of the container as a whole; then there are no kernels
  std::vector<TriedKernel> kernels;
};

/// Gives a container of compiled kernels to this system's Metal, and has it make a pipeline of each kernel named.
/// Error: NoDevice.
Result<TriedLibrary> try_library(std::span<const std::byte> container, std::span<const std::string> kernels);

}  // namespace cupola::metal
