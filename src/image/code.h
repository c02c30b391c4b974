#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/compile_request.h"

namespace cupola::image {

/// What a module is made of, copied from what the program gave.
struct Code {
  std::vector<std::vector<std::byte>>
      images;  ///< serialised image::KernelImages; the one whose target is the device's is used. Or a .metallib
  std::vector<CodeUnit> units;  ///< to be compiled and linked where no image fits; may be empty
  /// Text and bitcode are compiled when they are loaded, so that a program hears of its errors then, as CUDA documents
  /// for cuModuleLoadData; fat binaries when a kernel or a variable is first asked for.
  bool compile_at_load = false;
};

/// Finds the code in a fat binary (kernel images, kir, PTX, in this order of preference; of several PTX texts the one
/// for the newest architecture up to the device's, or else the oldest), in the list of fat binaries that separate
/// compilation makes, in PTX text, raw kir bitcode, code for
/// link-time optimisation (lto_code.h), an expression (expression_frame.h), a serialised kernel image, a .metallib, or
/// an object or archive of objects in which cupolac has put code. At most `limit` bytes are readable; SIZE_MAX when
/// that is not known, and then a bare kernel image is refused because it does not say how long it is. Errors:
/// InvalidImage for what is none of these; NoBinaryForGpu where there is only machine code of NVIDIA GPUs, saying how
/// to build the program instead.
Result<Code> read_code(const void* data, size_t limit);

}  // namespace cupola::image
