// Texture and surface objects. "CUDA Runtime API, Texture Object Management, Surface Object Management".

#include "cuda/cudart/channel_format.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

struct Resource {
  CUDA_RESOURCE_DESC desc{};
  CUarray_format format{};
};

/// The resource as the driver wants it, and its texels.
Result<Resource> driver_resource(const Driver& cu, const cudaResourceDesc& from) {
  Resource r;
  r.desc.flags = from.flags;
  switch (from.resType) {
    case cudaResourceTypeArray: {
      r.desc.resType = CU_RESOURCE_TYPE_ARRAY;
      r.desc.res.array.hArray = driver_array(from.res.array.array);
      TRY(const CUDA_ARRAY3D_DESCRIPTOR shape, shape_of(cu, from.res.array.array));
      r.format = shape.Format;
      return r;
    }
    case cudaResourceTypeMipmappedArray: {
      r.desc.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
      r.desc.res.mipmap.hMipmappedArray = driver_array(from.res.mipmap.mipmap);
      CUarray finest = nullptr;
      TRY(check(cu.cuMipmappedArrayGetLevel(&finest, r.desc.res.mipmap.hMipmappedArray, 0)));
      TRY(const CUDA_ARRAY3D_DESCRIPTOR shape, shape_of(cu, reinterpret_cast<cudaArray_t>(finest)));
      r.format = shape.Format;
      return r;
    }
    case cudaResourceTypeLinear: {
      TRY(const TexelFormat format, texel_format(from.res.linear.desc));
      r.desc.resType = CU_RESOURCE_TYPE_LINEAR;
      r.desc.res.linear = {address(from.res.linear.devPtr), format.format, format.channels,
                           from.res.linear.sizeInBytes};
      r.format = format.format;
      return r;
    }
    case cudaResourceTypePitch2D: {
      const auto& plane = from.res.pitch2D;
      TRY(const TexelFormat format, texel_format(plane.desc));
      r.desc.resType = CU_RESOURCE_TYPE_PITCH2D;
      r.desc.res.pitch2D = {address(plane.devPtr), format.format, format.channels,
                            plane.width,           plane.height,  plane.pitchInBytes};
      r.format = format.format;
      return r;
    }
  }
  return fail(ErrorCode::InvalidValue, "{} is not a type of resource", static_cast<int>(from.resType));
}

cudaResourceDesc runtime_resource(const CUDA_RESOURCE_DESC& from) {
  cudaResourceDesc r{};
  r.flags = from.flags;
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      r.resType = cudaResourceTypeArray;
      r.res.array.array = reinterpret_cast<cudaArray_t>(from.res.array.hArray);
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      r.resType = cudaResourceTypeMipmappedArray;
      r.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(from.res.mipmap.hMipmappedArray);
      break;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = from.res.linear;
      r.resType = cudaResourceTypeLinear;
      r.res.linear = {pointer(linear.devPtr), channel_descriptor(linear.format, linear.numChannels),
                      linear.sizeInBytes};
      break;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& plane = from.res.pitch2D;
      r.resType = cudaResourceTypePitch2D;
      r.res.pitch2D = {pointer(plane.devPtr), channel_descriptor(plane.format, plane.numChannels), plane.width,
                       plane.height, plane.pitchInBytes};
      break;
    }
  }
  return r;
}

/// What a channel is, whatever its number.
struct Channel {
  bool is_float, is_wide_integer;
};

Channel channel_of(CUarray_format format, const cudaResourceViewDesc* view) {
  if (view && view->format != cudaResViewFormatNone)
    return {view->format >= cudaResViewFormatHalf1,
            view->format >= cudaResViewFormatUnsignedInt1 && view->format <= cudaResViewFormatSignedInt4};
  return {format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF,
          format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32};
}

/// Errors: those of reading integers as what they cannot be.
Result<> check_reading(const cudaTextureDesc& texture, Channel channel) {
  if (texture.readMode == cudaReadModeNormalizedFloat && channel.is_wide_integer)
    return fail(code(cudaErrorInvalidNormSetting), "32-bit integers are not read as normalised floats");
  if (texture.filterMode == cudaFilterModeLinear && texture.readMode == cudaReadModeElementType && !channel.is_float)
    return fail(code(cudaErrorInvalidFilterSetting), "integers cannot be filtered; read them as normalised floats");
  return {};
}

/// What both APIs call the same, and number the same.
template <typename To, typename From>
void copy_sampling(To& to, const From& from) {
  const auto take = [](auto& value, const auto& other) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(other);
  };
  for (int i = 0; i < 3; ++i) take(to.addressMode[i], from.addressMode[i]);
  take(to.filterMode, from.filterMode);
  to.maxAnisotropy = from.maxAnisotropy;
  take(to.mipmapFilterMode, from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp, to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  for (int c = 0; c < 4; ++c) to.borderColor[c] = from.borderColor[c];
}

CUDA_TEXTURE_DESC driver_texture(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC t{};
  copy_sampling(t, from);
  t.flags = (from.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
            (from.normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) | (from.sRGB ? CU_TRSF_SRGB : 0u) |
            (from.disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
            (from.seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0u);
  return t;
}

cudaTextureDesc runtime_texture(const CUDA_TEXTURE_DESC& from) {
  cudaTextureDesc t{};
  copy_sampling(t, from);
  t.readMode = from.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  t.normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  t.sRGB = (from.flags & CU_TRSF_SRGB) != 0;
  t.seamlessCubemap = (from.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  t.disableTrilinearOptimization = (from.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  return t;
}

// The formats of views have the same numbers in both APIs.
static_assert(int{cudaResViewFormatFloat4} == int{CU_RES_VIEW_FORMAT_FLOAT_4X32} &&
              int{cudaResViewFormatUnsignedBlockCompressed7} == int{CU_RES_VIEW_FORMAT_UNSIGNED_BC7});

template <typename To, typename From>
To view_as(const From& from) {
  return {static_cast<decltype(To::format)>(from.format),
          from.width,
          from.height,
          from.depth,
          from.firstMipmapLevel,
          from.lastMipmapLevel,
          from.firstLayer,
          from.lastLayer,
          {}};
}

}  // namespace

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* pTexObject, const cudaResourceDesc* pResDesc,
                                    const cudaTextureDesc* pTexDesc, const cudaResourceViewDesc* pResViewDesc) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pTexObject, "pTexObject"));
    TRY(given(pResDesc, "pResDesc"));
    TRY(given(pTexDesc, "pTexDesc"));
    TRY(const Resource resource, driver_resource(cu, *pResDesc));
    TRY(check_reading(*pTexDesc, channel_of(resource.format, pResViewDesc)));
    const CUDA_TEXTURE_DESC texture = driver_texture(*pTexDesc);
    const CUDA_RESOURCE_VIEW_DESC view =
        pResViewDesc ? view_as<CUDA_RESOURCE_VIEW_DESC>(*pResViewDesc) : CUDA_RESOURCE_VIEW_DESC{};
    return check(cu.cuTexObjectCreate(pTexObject, &resource.desc, &texture, pResViewDesc ? &view : nullptr));
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject) {
  return with_context(
      [&](const Driver& cu) { return texObject ? check(cu.cuTexObjectDestroy(texObject)) : Result<>{}; });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* pResDesc, cudaTextureObject_t texObject) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pResDesc, "pResDesc"));
    CUDA_RESOURCE_DESC resource{};
    TRY(check(cu.cuTexObjectGetResourceDesc(&resource, texObject)));
    *pResDesc = runtime_resource(resource);
    return {};
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* pTexDesc, cudaTextureObject_t texObject) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pTexDesc, "pTexDesc"));
    CUDA_TEXTURE_DESC texture{};
    TRY(check(cu.cuTexObjectGetTextureDesc(&texture, texObject)));
    *pTexDesc = runtime_texture(texture);
    return {};
  });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* pResViewDesc, cudaTextureObject_t texObject) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pResViewDesc, "pResViewDesc"));
    CUDA_RESOURCE_VIEW_DESC view{};
    TRY(check(cu.cuTexObjectGetResourceViewDesc(&view, texObject)));
    *pResViewDesc = view_as<cudaResourceViewDesc>(view);
    return {};
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* pSurfObject, const cudaResourceDesc* pResDesc) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pSurfObject, "pSurfObject"));
    TRY(given(pResDesc, "pResDesc"));
    TRY(const Resource resource, driver_resource(cu, *pResDesc));
    return check(cu.cuSurfObjectCreate(pSurfObject, &resource.desc));
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject) {
  return with_context(
      [&](const Driver& cu) { return surfObject ? check(cu.cuSurfObjectDestroy(surfObject)) : Result<>{}; });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* pResDesc, cudaSurfaceObject_t surfObject) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pResDesc, "pResDesc"));
    CUDA_RESOURCE_DESC resource{};
    TRY(check(cu.cuSurfObjectGetResourceDesc(&resource, surfObject)));
    *pResDesc = runtime_resource(resource);
    return {};
  });
}
