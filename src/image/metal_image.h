#pragma once

#include <string>
#include <vector>

#include "image/image_frame.h"
#include "image/module_variables.h"

// A kernel image for the metal device: a module's source in Metal's shading language (MSL), which the system compiles
// when the image is loaded, and what the host must know of it. metal_abi.h says what a launch gives the kernels. Such
// an image without source is the note that a container of compiled kernels has of itself (metallib::kImageNote).

namespace cupola::image {

inline constexpr std::string_view kMetalTarget = "metal:";  ///< how the targets of such images begin
inline constexpr std::string_view kMslTarget = "metal:msl", kMetallibTarget = "metal:metallib";

/// How the keys of archives of pipelines begin, which the metal device keeps in the cache folder.
inline constexpr std::string_view kPipelinesKey = "pipelines-";

struct MetalKernel {
  KernelInfo info;
  std::string entry;         ///< its name in the source, or in the container
  std::string refusal;       ///< instead: why Metal cannot have it; of its info there is only the name
  uint32_t saved_bytes = 0;  ///< that a thread keeps at grid-wide barriers (metal_abi.h); 0: it has none
  bool may_fail = true;      ///< its threads may write a FaultRecord
};

struct MetalImage : ModuleVariables {
  std::string target;  ///< "metal:msl30": hal::DeviceProperties::image_target it was made for
  std::vector<MetalKernel> kernels;
  uint32_t msl_version = 30;  ///< 30 is MSL 3.0: the least that the source needs
  std::string source;
};

/// True for what begins as a container of compiled kernels does: what the metal device takes instead of an image.
bool is_metallib(std::span<const std::byte> bytes);

/// Whole image as bytes, ending in a hash of all before it.
std::vector<std::byte> serialize(const MetalImage& image);

/// The way back. Errors: InvalidImage, saying what is wrong, for any bytes that serialize did not make.
Result<MetalImage> deserialize_metal(std::span<const std::byte> bytes);

}  // namespace cupola::image
