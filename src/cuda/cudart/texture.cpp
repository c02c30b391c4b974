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
    case cudaResourceTypeMipmappedArray:
      return fail(ErrorCode::NotSupported, "mipmapped arrays are not supported");
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

/// Errors: those of reading integers as what they cannot be.
Result<> check_reading(const cudaTextureDesc& texture, CUarray_format format) {
  const bool is_float = format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF;
  const bool is_wide = format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;
  if (texture.readMode == cudaReadModeNormalizedFloat && is_wide)
    return fail(code(cudaErrorInvalidNormSetting), "32-bit integers are not read as normalised floats");
  if (texture.filterMode == cudaFilterModeLinear && texture.readMode == cudaReadModeElementType && !is_float)
    return fail(code(cudaErrorInvalidFilterSetting), "integers cannot be filtered; read them as normalised floats");
  return {};
}

CUDA_TEXTURE_DESC driver_texture(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC t{};
  for (int i = 0; i < 3; ++i) t.addressMode[i] = static_cast<CUaddress_mode>(from.addressMode[i]);
  t.filterMode = static_cast<CUfilter_mode>(from.filterMode);
  t.flags = (from.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
            (from.normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) | (from.sRGB ? CU_TRSF_SRGB : 0u) |
            (from.disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
            (from.seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0u);
  t.maxAnisotropy = from.maxAnisotropy;
  t.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
  t.mipmapLevelBias = from.mipmapLevelBias;
  t.minMipmapLevelClamp = from.minMipmapLevelClamp, t.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  for (int c = 0; c < 4; ++c) t.borderColor[c] = from.borderColor[c];
  return t;
}

cudaTextureDesc runtime_texture(const CUDA_TEXTURE_DESC& from) {
  cudaTextureDesc t{};
  for (int i = 0; i < 3; ++i) t.addressMode[i] = static_cast<cudaTextureAddressMode>(from.addressMode[i]);
  t.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  t.readMode = from.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  t.normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  t.disableTrilinearOptimization = (from.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  t.maxAnisotropy = from.maxAnisotropy;
  t.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
  t.mipmapLevelBias = from.mipmapLevelBias;
  t.minMipmapLevelClamp = from.minMipmapLevelClamp, t.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  for (int c = 0; c < 4; ++c) t.borderColor[c] = from.borderColor[c];
  return t;
}

}  // namespace

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* pTexObject, const cudaResourceDesc* pResDesc,
                                    const cudaTextureDesc* pTexDesc, const cudaResourceViewDesc* pResViewDesc) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pTexObject, "pTexObject"));
    TRY(given(pResDesc, "pResDesc"));
    TRY(given(pTexDesc, "pTexDesc"));
    if (pResViewDesc) return fail(ErrorCode::NotSupported, "resource views are not supported");
    TRY(const Resource resource, driver_resource(cu, *pResDesc));
    TRY(check_reading(*pTexDesc, resource.format));
    const CUDA_TEXTURE_DESC texture = driver_texture(*pTexDesc);
    return check(cu.cuTexObjectCreate(pTexObject, &resource.desc, &texture, nullptr));
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
