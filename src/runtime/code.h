#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::runtime {

/// What a module is made of, copied from what the program gave.
struct Code {
  enum class Kind {
    Kir,    ///< to be compiled
    Image,  ///< a serialised image::KernelImage, ready to load
  };
  Kind kind;
  std::vector<std::byte> bytes;
};

/// Finds the code in a fat binary of ours (kir or image entries), in raw kir bitcode, or in a serialised kernel image.
/// At most `limit` bytes are readable; SIZE_MAX when that is not known, and then a bare kernel image is refused because
/// it does not say how long it is. Errors: InvalidImage for what is none of these; NoBinaryForGpu and NotSupported for
/// NVIDIA's formats, saying how to build the program instead.
Result<Code> read_code(const void* data, size_t limit);

/// The whole file. Error: FileNotFound.
Result<std::vector<std::byte>> read_file(const std::string& path);

}  // namespace cupola::runtime
