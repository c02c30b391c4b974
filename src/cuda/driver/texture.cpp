// Texture and surface objects. "CUDA Driver API, Texture Object Management, Surface Object Management"; what kernels
// read of them is image/texture_abi.h.

#include "cuda/driver/texel_format.h"

using namespace cupola;
using namespace cupola::driver;

namespace cupola::driver {

Result<TexelFormat> texel_format(CUarray_format format, unsigned channels) {
  using enum image::ChannelKind;
  struct Row {
    CUarray_format format;
    unsigned char bits;
    image::ChannelKind kind;
  };
  constexpr Row kRows[] = {
      {CU_AD_FORMAT_UNSIGNED_INT8, 8, Unsigned},
      {CU_AD_FORMAT_UNSIGNED_INT16, 16, Unsigned},
      {CU_AD_FORMAT_UNSIGNED_INT32, 32, Unsigned},
      {CU_AD_FORMAT_SIGNED_INT8, 8, Signed},
      {CU_AD_FORMAT_SIGNED_INT16, 16, Signed},
      {CU_AD_FORMAT_SIGNED_INT32, 32, Signed},
      {CU_AD_FORMAT_HALF, 16, Float},
      {CU_AD_FORMAT_FLOAT, 32, Float},
  };
  if (channels != 1 && channels != 2 && channels != 4)
    return fail(ErrorCode::InvalidValue, "a texel of {} channels; there may be 1, 2 or 4", channels);
  for (const Row& row : kRows)
    if (row.format == format) return TexelFormat{static_cast<unsigned char>(channels), row.bits, row.kind};
  return fail(ErrorCode::NotSupported, "the texel format {:#x} is not supported", static_cast<unsigned>(format));
}

Result<std::shared_ptr<Array>> live_array(CUarray handle) {
  std::shared_ptr<Array> array = Runtime::get().arrays.find(handle);
  if (!array) return fail(ErrorCode::InvalidHandle, "that is not a CUDA array");
  return array;
}

}  // namespace cupola::driver

namespace {

using image::Addressing;
using image::ChannelKind;
using image::TextureDescriptor;

/// An object with what it was made of, which programs may ask for.
struct DescribedObject : ImageObject {
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
};

void set_format(TextureDescriptor& d, const TexelFormat& format) {
  d.channels = format.channels;
  d.channel_bits = format.channel_bits;
  d.channel_kind = format.kind;
}

/// Error: InvalidValue unless the bytes are memory that the API knows, and aligned.
Result<> check_memory(CUdeviceptr address, uint64_t bytes, uint64_t alignment) {
  if (address % alignment)
    return fail(ErrorCode::InvalidValue, "the texture at {:#x} is not aligned to {} bytes", address, alignment);
  const auto range = Runtime::get().addresses.find(address);
  if (range && range->holds(address, bytes)) return {};
  return fail(ErrorCode::InvalidValue, "the {} bytes at {:#x} are not all in one allocation", bytes, address);
}

Result<> describe_array(TextureDescriptor& d, const Array& array) {
  TRY(const TexelFormat format, texel_format(static_cast<CUarray_format>(array.format), array.channels));
  set_format(d, format);
  const bool layered = array.flags & CUDA_ARRAY3D_LAYERED;
  d.is_cube = array.flags & CUDA_ARRAY3D_CUBEMAP;
  d.address = array.address;
  d.row_pitch = array.row_pitch, d.slice_pitch = array.slice_pitch;
  d.width = static_cast<unsigned>(array.width), d.height = static_cast<unsigned>(array.rows());
  d.depth = layered || d.is_cube ? 1 : static_cast<unsigned>(array.slices());
  d.layers = layered ? static_cast<unsigned>(d.is_cube ? array.depth / 6 : array.depth) : 0;
  return {};
}

Result<> describe_linear(TextureDescriptor& d, const CUDA_RESOURCE_DESC& resource) {
  const auto& linear = resource.res.linear;
  TRY(const TexelFormat format, texel_format(linear.format, linear.numChannels));
  set_format(d, format);
  TRY(check_memory(linear.devPtr, linear.sizeInBytes, format.bytes()));
  const uint64_t texels = linear.sizeInBytes / format.bytes();
  constexpr uint64_t kMost = 1u << 28;
  if (texels == 0 || texels > kMost)
    return fail(ErrorCode::InvalidValue, "a texture of {} texels in linear memory; there may be {}", texels, kMost);
  d.address = linear.devPtr;
  d.width = static_cast<unsigned>(texels), d.height = d.depth = 1;
  d.is_linear_memory = true;
  return {};
}

Result<> describe_pitched(TextureDescriptor& d, const CUDA_RESOURCE_DESC& resource) {
  const auto& plane = resource.res.pitch2D;
  TRY(const TexelFormat format, texel_format(plane.format, plane.numChannels));
  set_format(d, format);
  constexpr uint64_t kMost = 1u << 17, kPitchUnit = 32, kMostPitch = 1u << 21;
  if (plane.width == 0 || plane.height == 0 || plane.width > kMost || plane.height > kMost)
    return fail(ErrorCode::InvalidValue, "a texture of {} x {} texels", plane.width, plane.height);
  const uint64_t row = plane.width * format.bytes();
  if (plane.pitchInBytes % kPitchUnit || plane.pitchInBytes > kMostPitch)
    return fail(ErrorCode::InvalidValue, "a pitch of {} bytes, which is to be a multiple of {} up to {}",
                plane.pitchInBytes, kPitchUnit, kMostPitch);
  TRY(check_memory(plane.devPtr, plane.pitchInBytes * (plane.height - 1) + row, kPitchUnit));
  d.address = plane.devPtr;
  d.row_pitch = plane.pitchInBytes;
  d.width = static_cast<unsigned>(plane.width), d.height = static_cast<unsigned>(plane.height), d.depth = 1;
  return {};
}

Result<> describe(TextureDescriptor& d, const CUDA_RESOURCE_DESC& resource) {
  if (resource.flags != 0) return fail(ErrorCode::InvalidValue, "the flags of a resource are {:#x}", resource.flags);
  d.levels = 1;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      TRY(std::shared_ptr<Array> array, live_array(resource.res.array.hArray));
      return describe_array(d, *array);
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return fail(ErrorCode::NotSupported, "mipmapped arrays are not supported");
    case CU_RESOURCE_TYPE_LINEAR:
      return describe_linear(d, resource);
    case CU_RESOURCE_TYPE_PITCH2D:
      return describe_pitched(d, resource);
  }
  return fail(ErrorCode::InvalidValue, "{} is not a type of resource", static_cast<int>(resource.resType));
}

Result<> describe_sampling(TextureDescriptor& d, const CUDA_TEXTURE_DESC& texture) {
  const unsigned known =
      CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  if (texture.flags & ~known)
    return fail(ErrorCode::NotSupported, "textures with the flags {:#x} (sRGB, seamless cubes) are not supported",
                texture.flags);
  d.has_normalized_coordinates = texture.flags & CU_TRSF_NORMALIZED_COORDINATES;
  d.is_normalized_read =
      !(texture.flags & CU_TRSF_READ_AS_INTEGER) && d.channel_kind != ChannelKind::Float && d.channel_bits < 32;
  for (int i = 0; i < 3; ++i) {
    const auto mode = static_cast<unsigned>(texture.addressMode[i]);
    if (mode > CU_TR_ADDRESS_MODE_BORDER) return fail(ErrorCode::InvalidValue, "{} is not an address mode", mode);
    d.addressing[i] = static_cast<Addressing>(mode);
    // A texture repeats in normalised coordinates only.
    if (!d.has_normalized_coordinates && d.addressing[i] != Addressing::Border) d.addressing[i] = Addressing::Clamp;
    if (d.is_cube) d.addressing[i] = Addressing::Clamp;
  }
  for (int c = 0; c < 4; ++c) d.border[c] = texture.borderColor[c];
  const auto filter = static_cast<unsigned>(texture.filterMode);
  if (filter > CU_TR_FILTER_MODE_LINEAR) return fail(ErrorCode::InvalidValue, "{} is not a filter mode", filter);
  // What a filter makes of integers is not defined.
  d.is_linear_filter =
      filter == CU_TR_FILTER_MODE_LINEAR && (d.channel_kind == ChannelKind::Float || d.is_normalized_read);
  return {};
}

/// Error: InvalidHandle. The object is a DescribedObject, as all are.
Result<std::shared_ptr<DescribedObject>> live_object(const Handles<ImageObject>& objects, unsigned long long handle) {
  const auto found = objects.find(reinterpret_cast<const void*>(handle));  // NOLINT(performance-no-int-to-ptr)
  if (!found) return fail(ErrorCode::InvalidValue, "{:#x} is not such an object", handle);
  return std::static_pointer_cast<DescribedObject>(found);
}

/// Kernels that were launched before read the object's descriptor: it goes when they are done. Objects are numbers, not
/// handles: InvalidValue is the code that is documented for another one.
Result<> destroy(Handles<ImageObject>& objects, unsigned long long handle) {
  const auto object = objects.remove(reinterpret_cast<const void*>(handle));  // NOLINT(performance-no-int-to-ptr)
  if (!object) return fail(ErrorCode::InvalidValue, "{:#x} is not such an object", handle);
  object->context().order()->drain();
  return {};
}

unsigned long long add(Handles<ImageObject>& objects, std::shared_ptr<DescribedObject> object) {
  return reinterpret_cast<unsigned long long>(objects.add(std::move(object)));
}

}  // namespace

CUresult cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                           const CUDA_TEXTURE_DESC* pTexDesc, const CUDA_RESOURCE_VIEW_DESC* pResViewDesc) {
  return api_call([&]() -> Result<> {
    TRY(given(pTexObject, "pTexObject"));
    TRY(given(pResDesc, "pResDesc"));
    TRY(given(pTexDesc, "pTexDesc"));
    if (pResViewDesc) return fail(ErrorCode::NotSupported, "resource views are not supported");
    TRY(std::shared_ptr<Context> context, current_context());
    auto object = std::make_shared<DescribedObject>();
    object->owner = context.get();
    object->resource = *pResDesc, object->texture = *pTexDesc;
    TRY(describe(object->descriptor, *pResDesc));
    TRY(describe_sampling(object->descriptor, *pTexDesc));
    *pTexObject = add(Runtime::get().textures, std::move(object));
    return {};
  });
}

CUresult cuTexObjectDestroy(CUtexObject texObject) {
  return api_call([&]() -> Result<> { return destroy(Runtime::get().textures, texObject); });
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) {
  return api_call([&]() -> Result<> {
    TRY(given(pResDesc, "pResDesc"));
    TRY(const auto object, live_object(Runtime::get().textures, texObject));
    *pResDesc = object->resource;
    return {};
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject) {
  return api_call([&]() -> Result<> {
    TRY(given(pTexDesc, "pTexDesc"));
    TRY(const auto object, live_object(Runtime::get().textures, texObject));
    *pTexDesc = object->texture;
    return {};
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc) {
  return api_call([&]() -> Result<> {
    TRY(given(pSurfObject, "pSurfObject"));
    TRY(given(pResDesc, "pResDesc"));
    TRY(std::shared_ptr<Context> context, current_context());
    if (pResDesc->resType != CU_RESOURCE_TYPE_ARRAY)
      return fail(ErrorCode::InvalidValue, "a surface is made of a CUDA array");
    auto object = std::make_shared<DescribedObject>();
    object->owner = context.get();
    object->resource = *pResDesc;
    TRY(describe(object->descriptor, *pResDesc));
    TRY(std::shared_ptr<Array> array, live_array(pResDesc->res.array.hArray));
    // "CUDA C++ Programming Guide, Surface Memory": arrays "created with the cudaArraySurfaceLoadStore flag".
    if (!(array->flags & CUDA_ARRAY3D_SURFACE_LDST))
      return fail(ErrorCode::InvalidValue, "a surface of an array that was created without CUDA_ARRAY3D_SURFACE_LDST");
    *pSurfObject = add(Runtime::get().surfaces, std::move(object));
    return {};
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) {
  return api_call([&]() -> Result<> { return destroy(Runtime::get().surfaces, surfObject); });
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUsurfObject surfObject) {
  return api_call([&]() -> Result<> {
    TRY(given(pResDesc, "pResDesc"));
    TRY(const auto object, live_object(Runtime::get().surfaces, surfObject));
    *pResDesc = object->resource;
    return {};
  });
}
