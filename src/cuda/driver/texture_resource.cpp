// What texture and surface objects are made of: arrays, mipmapped arrays and memory, whole or through a view. "CUDA
// Driver API, Texture Object Management": cuTexObjectCreate.

#include "cuda/driver/texture_resource.h"

#include <span>

namespace cupola::driver {
namespace {

using image::TextureDescriptor;
using image::TextureLevel;

constexpr unsigned kFaces = 6;

void set_format(TextureDescriptor& d, const TexelFormat& format) {
  d.channels = format.channels;
  d.channel_bits = format.channel_bits;
  d.channel_kind = format.kind;
}

// ---- memory ----

/// What the current device reports; 1 for what it does not.
Result<uint64_t> reported(CUdevice_attribute attribute) {
  TRY(const std::shared_ptr<Context> context, current_context());
  return static_cast<uint64_t>(context->device().attribute(attribute).value_or(1));
}

/// Error: InvalidValue unless the bytes are memory that the API knows, and aligned.
Result<> check_memory(CUdeviceptr address, uint64_t bytes) {
  TRY(const uint64_t alignment, reported(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
  if (address % alignment)
    return fail(ErrorCode::InvalidValue, "the texture at {:#x} is not aligned to {} bytes", address, alignment);
  const auto range = Runtime::get().addresses.find(address);
  if (range && range->holds(address, bytes)) return {};
  return fail(ErrorCode::InvalidValue, "the {} bytes at {:#x} are not all in one allocation", bytes, address);
}

Result<> describe_linear(TextureDescriptor& d, const CUDA_RESOURCE_DESC& resource) {
  const auto& linear = resource.res.linear;
  TRY(const TexelFormat format, texel_format(linear.format, linear.numChannels));
  set_format(d, format);
  TRY(check_memory(linear.devPtr, linear.sizeInBytes));
  const uint64_t texels = linear.sizeInBytes / format.bytes();
  TRY(const uint64_t most, reported(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH));
  if (texels == 0 || texels > most)
    return fail(ErrorCode::InvalidValue, "a texture of {} texels in linear memory; there may be {}", texels, most);
  d.address = linear.devPtr;
  d.width = static_cast<unsigned>(texels), d.height = d.depth = 1;
  d.is_linear_memory = true;
  return {};
}

Result<> describe_pitched(TextureDescriptor& d, const CUDA_RESOURCE_DESC& resource) {
  const auto& plane = resource.res.pitch2D;
  TRY(const TexelFormat format, texel_format(plane.format, plane.numChannels));
  set_format(d, format);
  TRY(const uint64_t most_width, reported(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH));
  TRY(const uint64_t most_height, reported(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT));
  TRY(const uint64_t most_pitch, reported(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH));
  TRY(const uint64_t pitch_unit, reported(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT));
  if (plane.width == 0 || plane.height == 0 || plane.width > most_width || plane.height > most_height)
    return fail(ErrorCode::InvalidValue, "a texture of {} x {} texels; there may be 1 x 1 to {} x {}", plane.width,
                plane.height, most_width, most_height);
  const uint64_t row = plane.width * format.bytes();
  // One that is smaller than a row is none of the driver's business: an H200 (driver 580).
  if (plane.pitchInBytes % pitch_unit || plane.pitchInBytes > most_pitch)
    return fail(ErrorCode::InvalidValue, "a pitch of {} bytes, which is to be a multiple of {} up to {}",
                plane.pitchInBytes, pitch_unit, most_pitch);
  TRY(check_memory(plane.devPtr, plane.pitchInBytes * (plane.height - 1) + row));
  d.address = plane.devPtr;
  d.row_pitch = plane.pitchInBytes;
  d.width = static_cast<unsigned>(plane.width), d.height = static_cast<unsigned>(plane.height), d.depth = 1;
  return {};
}

// ---- arrays ----

/// The part of an array that a texture reads.
struct Part {
  TexelFormat format;
  unsigned first_level, last_level;
  unsigned first_layer, last_layer;  ///< faces count as layers
};

Result<TexelFormat> seen_format(CUresourceViewFormat view, const TexelFormat& original) {
  if (view == CU_RES_VIEW_FORMAT_NONE) return original;
  TRY(const TexelFormat seen, texel_format(view));
  if (seen.bytes() != original.bytes())
    return fail(ErrorCode::InvalidValue, "a view of texels of {} bytes on an array of texels of {}", seen.bytes(),
                original.bytes());
  return seen;
}

Result<> check_range(const char* what, unsigned first, unsigned last, uint64_t count) {
  if (first <= last && last < count) return {};
  return fail(ErrorCode::InvalidValue, "a view of the {}s {} to {} on an array of {}", what, first, last, count);
}

/// "CUDA Driver API, CUDA_RESOURCE_VIEW_DESC".
Result<Part> part_of(const Array& array, uint64_t levels, const CUDA_RESOURCE_VIEW_DESC* view) {
  TRY(const TexelFormat format, texel_format(static_cast<CUarray_format>(array.format), array.channels));
  const bool layered = array.flags & CUDA_ARRAY3D_LAYERED, cube = array.flags & CUDA_ARRAY3D_CUBEMAP;
  const auto layers = static_cast<unsigned>(layered ? array.depth : 1);
  if (!view) return Part{format, 0, static_cast<unsigned>(levels - 1), 0, layers - 1};
  TRY(const TexelFormat seen, seen_format(view->format, format));
  if (view->width != array.width || view->height != array.height || view->depth != array.depth)
    return fail(ErrorCode::InvalidValue, "a view of {} x {} x {} on an array of {} x {} x {}; they are to be the same",
                view->width, view->height, view->depth, array.width, array.height, array.depth);
  TRY(check_range("level", view->firstMipmapLevel, view->lastMipmapLevel, levels));
  TRY(check_range("layer", view->firstLayer, view->lastLayer, layers));
  if (layered && cube && (view->firstLayer % kFaces || (view->lastLayer + 1) % kFaces))
    return fail(ErrorCode::InvalidValue, "a view of the faces {} to {}, which are no whole cubes", view->firstLayer,
                view->lastLayer);
  return Part{seen, view->firstMipmapLevel, view->lastMipmapLevel, view->firstLayer, view->lastLayer};
}

TextureLevel level_of(const Array& array, const Part& part) {
  const bool layered = array.flags & CUDA_ARRAY3D_LAYERED, cube = array.flags & CUDA_ARRAY3D_CUBEMAP;
  const unsigned layers = part.last_layer - part.first_layer + 1;
  TextureLevel level{};
  level.address = array.address + part.first_layer * array.slice_pitch;
  level.row_pitch = array.row_pitch, level.slice_pitch = array.slice_pitch;
  level.width = static_cast<unsigned>(array.width), level.height = static_cast<unsigned>(array.rows());
  level.depth = layered || cube ? 1 : static_cast<unsigned>(array.slices());
  level.layers = !layered ? 0 : cube ? layers / kFaces : layers;
  return level;
}

Result<> describe_arrays(ImageObject& object, std::span<const std::shared_ptr<Array>> arrays,
                         const CUDA_RESOURCE_VIEW_DESC* view) {
  TRY(const Part part, part_of(*arrays[0], arrays.size(), view));
  TextureDescriptor& d = object.descriptor;
  set_format(d, part.format);
  d.is_cube = arrays[0]->flags & CUDA_ARRAY3D_CUBEMAP;
  for (unsigned i = part.first_level; i <= part.last_level; ++i) object.levels.push_back(level_of(*arrays[i], part));
  static_cast<TextureLevel&>(d) = object.levels[0];
  d.levels = static_cast<unsigned char>(object.levels.size());
  d.level_table = reinterpret_cast<unsigned long long>(object.levels.data());
  return {};
}

}  // namespace

Result<> describe_resource(ImageObject& object, const CUDA_RESOURCE_DESC& resource,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  if (resource.flags != 0)
    return fail(ErrorCode::InvalidValue, "the flags of a resource are {:#x}; they must be 0", resource.flags);
  object.descriptor.levels = 1;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      TRY(given(resource.res.array.hArray, "hArray"));
      TRY(const std::shared_ptr<Array> array, live_array(resource.res.array.hArray));
      return describe_arrays(object, {&array, 1}, view);
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      TRY(given(resource.res.mipmap.hMipmappedArray, "hMipmappedArray"));
      TRY(const std::shared_ptr<MipmappedArray> array, live_mipmapped_array(resource.res.mipmap.hMipmappedArray));
      return describe_arrays(object, array->levels, view);
    }
    case CU_RESOURCE_TYPE_LINEAR:
    case CU_RESOURCE_TYPE_PITCH2D:
      if (view) return fail(ErrorCode::InvalidValue, "only arrays and mipmapped arrays have views");
      return resource.resType == CU_RESOURCE_TYPE_LINEAR ? describe_linear(object.descriptor, resource)
                                                         : describe_pitched(object.descriptor, resource);
  }
  return fail(ErrorCode::InvalidValue, "{} is not a type of resource", static_cast<int>(resource.resType));
}

}  // namespace cupola::driver
