// Texture and surface objects. "CUDA Driver API, Texture Object Management, Surface Object Management"; what kernels
// read of them is image/texture_abi.h.

#include <optional>

#include "cuda/driver/texture_resource.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

using image::Addressing;
using image::ChannelKind;
using image::TextureDescriptor;

/// An object with what it was made of, which programs may ask for.
struct DescribedObject : ImageObject {
  using ImageObject::ImageObject;

  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

std::shared_ptr<DescribedObject> make_object(Context& context) {
  return std::allocate_shared<DescribedObject>(ReachedByKernels<DescribedObject>(context.device()), context);
}

bool gives_floats(const TextureDescriptor& d) {
  return d.channel_kind == ChannelKind::Float || d.is_normalized_read;
}

Result<> describe_flags(TextureDescriptor& d, unsigned flags) {
  const unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                         CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  if (flags & ~known)
    return fail(ErrorCode::InvalidValue, "the flags of a texture are {:#x}; those known are {:#x}", flags, known);
  if (flags & CU_TRSF_SEAMLESS_CUBEMAP && !d.is_cube)
    return fail(ErrorCode::InvalidValue, "CU_TRSF_SEAMLESS_CUBEMAP needs an array with CUDA_ARRAY3D_CUBEMAP");
  d.is_seamless = flags & CU_TRSF_SEAMLESS_CUBEMAP;
  d.has_normalized_coordinates = flags & CU_TRSF_NORMALIZED_COORDINATES;
  d.is_normalized_read =
      !(flags & CU_TRSF_READ_AS_INTEGER) && d.channel_kind != ChannelKind::Float && d.channel_bits < 32;
  d.is_srgb =
      flags & CU_TRSF_SRGB && d.is_normalized_read && d.channel_kind == ChannelKind::Unsigned && d.channel_bits == 8;
  return {};
}

Result<> describe_addressing(TextureDescriptor& d, const CUDA_TEXTURE_DESC& texture) {
  for (int i = 0; i < 3; ++i) {
    const auto mode = static_cast<unsigned>(texture.addressMode[i]);
    if (mode > CU_TR_ADDRESS_MODE_BORDER) return fail(ErrorCode::InvalidValue, "{} is not an address mode", mode);
    d.addressing[i] = static_cast<Addressing>(mode);
    // A texture repeats in normalised coordinates only.
    if (!d.has_normalized_coordinates && d.addressing[i] != Addressing::Border) d.addressing[i] = Addressing::Clamp;
    if (d.is_cube) d.addressing[i] = Addressing::Clamp;
  }
  for (int c = 0; c < 4; ++c) d.border[c] = texture.borderColor[c];
  return {};
}

/// Whether a filter is linear; what one makes of integers is not defined, so that of those it takes the nearest.
Result<bool> is_linear(const TextureDescriptor& d, CUfilter_mode mode) {
  const auto filter = static_cast<unsigned>(mode);
  if (filter > CU_TR_FILTER_MODE_LINEAR) return fail(ErrorCode::InvalidValue, "{} is not a filter mode", filter);
  return filter == CU_TR_FILTER_MODE_LINEAR && gives_floats(d);
}

Result<> describe_levels(TextureDescriptor& d, const CUDA_TEXTURE_DESC& texture) {
  if (!d.has_normalized_coordinates)
    return fail(ErrorCode::InvalidValue, "textures of mipmapped arrays need CU_TRSF_NORMALIZED_COORDINATES");
  TRY(d.is_linear_mipmap_filter, is_linear(d, texture.mipmapFilterMode));
  const auto last = static_cast<float>(d.levels - 1);
  const auto among_levels = [last](float level) { return level > last ? last : level > 0 ? level : 0.0f; };
  d.level_bias = texture.mipmapLevelBias;
  d.least_level = among_levels(texture.minMipmapLevelClamp);
  d.most_level = among_levels(texture.maxMipmapLevelClamp);
  return {};
}

Result<> describe_sampling(TextureDescriptor& d, const CUDA_TEXTURE_DESC& texture, CUresourcetype type) {
  TRY(describe_flags(d, texture.flags));
  TRY(describe_addressing(d, texture));
  TRY(d.is_linear_filter, is_linear(d, texture.filterMode));
  return type == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY ? describe_levels(d, texture) : Result<>{};
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
    TRY(std::shared_ptr<Context> context, current_context());
    const std::shared_ptr<DescribedObject> object = make_object(*context);
    object->resource = *pResDesc, object->texture = *pTexDesc;
    if (pResViewDesc) object->view = *pResViewDesc;
    TRY(describe_resource(*object, *pResDesc, pResViewDesc));
    TRY(describe_sampling(object->descriptor, *pTexDesc, pResDesc->resType));
    *pTexObject = add(Runtime::get().textures, object);
    return {};
  });
}

CUresult cuTexObjectDestroy(CUtexObject texObject) {
  return api_call([&]() -> Result<> { return texObject ? destroy(Runtime::get().textures, texObject) : Result<>{}; });
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

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* pResViewDesc, CUtexObject texObject) {
  return api_call([&]() -> Result<> {
    TRY(given(pResViewDesc, "pResViewDesc"));
    TRY(const auto object, live_object(Runtime::get().textures, texObject));
    *pResViewDesc = object->view.value_or(CUDA_RESOURCE_VIEW_DESC{});  // no error, as an H200 (driver 580) has it
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
    const std::shared_ptr<DescribedObject> object = make_object(*context);
    object->resource = *pResDesc;
    TRY(describe_resource(*object, *pResDesc, nullptr));
    TRY(std::shared_ptr<Array> array, live_array(pResDesc->res.array.hArray));
    // "CUDA C++ Programming Guide, Surface Memory": arrays "created with the cudaArraySurfaceLoadStore flag".
    if (!(array->flags & CUDA_ARRAY3D_SURFACE_LDST))
      return fail(ErrorCode::InvalidValue, "a surface of an array that was created without CUDA_ARRAY3D_SURFACE_LDST");
    *pSurfObject = add(Runtime::get().surfaces, object);
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
