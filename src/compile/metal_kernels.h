#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "image/metal_image.h"

namespace llvm {
class Module;
}

namespace cupola {

/// A prepared module as an image for `target`, "metal:msl30". Where Metal cannot have some of its kernels, the others
/// are in the image all the same, and those with the reason; what has no form stays an error where it concerns every
/// kernel. `library`: lib/cupola/metal.bc. Errors: NoBinaryForGpu for another target; NotSupported, InvalidImage.
Result<image::MetalImage> make_metal_image(llvm::Module& prepared, std::span<const std::byte> library,
                                           const std::string& target);

}  // namespace cupola
