#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace llvm {
class Module;
}

namespace cupola {

/// What code for Metal is made with.
struct MetalLibraries {
  std::span<const std::byte> doubles;   ///< lib/cupola/metal.bc
  std::span<const std::byte> meanings;  ///< lib/cupola/air.bc
};

/// A prepared module as code for `target`: "metal:msl30" is a serialised image::MetalImage, "metal:metallib30" a
/// container of compiled kernels (make_metallib). Where Metal cannot have some of its kernels, the others are there all
/// the same, and those with the reason; what has no form stays an error where it concerns every kernel. A module
/// without kernels is a MetalImage for either. Errors: NoBinaryForGpu for another target; NotSupported, InvalidImage.
Result<std::vector<std::byte>> make_metal_code(llvm::Module& prepared, const MetalLibraries& libraries,
                                               const std::string& target);

/// A prepared module's kernels, all of them, in Apple's container of compiled kernels, for the oldest system that takes
/// them. The first one's module has what the host must know of all, as image/metal_image.h says. Errors: NotSupported,
/// InvalidImage.
Result<std::vector<std::byte>> make_metallib(std::unique_ptr<llvm::Module> prepared, const MetalLibraries& libraries);

}  // namespace cupola
