#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "image/metal_image.h"

namespace cupola::metal {

/// What a container of compiled kernels says of them, in the first module that has metallib::kImageNote: an image
/// without source. Errors: InvalidImage, for what is no container, a module that is not what its hash says, and
/// containers of others.
Result<image::MetalImage> container_note(std::span<const std::byte> container);

}  // namespace cupola::metal
