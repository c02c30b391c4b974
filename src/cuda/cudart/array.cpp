// CUDA arrays. "CUDA Runtime API, Memory Management".

#include "cuda/cudart/channel_format.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

struct FormatRow {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};
constexpr FormatRow kFormats[] = {
#define CU_TEXEL_FORMAT(name, number, bits, kind) {CU_AD_FORMAT_##name, bits, cudaChannelFormatKind##kind},
#define CU_TEXEL_FORMAT_LACKING(name, number)
#include "cupola/texel_formats.def"
#undef CU_TEXEL_FORMAT_LACKING
#undef CU_TEXEL_FORMAT
};

}  // namespace

namespace cupola::cudart {

Result<TexelFormat> texel_format(const cudaChannelFormatDesc& desc) {
  if (desc.f > cudaChannelFormatKindNone && desc.f <= cudaChannelFormatKindUnsignedNormalized1010102)
    return fail(ErrorCode::NotSupported, "texels of kind {} are not supported", static_cast<int>(desc.f));
  const unsigned channels = desc.w ? 4 : desc.z ? 3 : desc.y ? 2 : 1;
  const bool same = (channels < 2 || desc.y == desc.x) && (channels < 4 || (desc.z == desc.x && desc.w == desc.x));
  if (same && channels != 3)
    for (const FormatRow& row : kFormats)
      if (row.bits == desc.x && row.kind == desc.f) return TexelFormat{row.format, channels};
  return fail(code(cudaErrorInvalidChannelDescriptor), "there is no texel of {}, {}, {}, {} bits of kind {}", desc.x,
              desc.y, desc.z, desc.w, static_cast<int>(desc.f));
}

cudaChannelFormatDesc channel_descriptor(CUarray_format format, unsigned channels) {
  for (const FormatRow& row : kFormats)
    if (row.format == format)
      return {row.bits, channels > 1 ? row.bits : 0, channels > 2 ? row.bits : 0, channels > 2 ? row.bits : 0,
              row.kind};
  return {0, 0, 0, 0, cudaChannelFormatKindNone};
}

unsigned texel_bytes(CUarray_format format, unsigned channels) {
  return static_cast<unsigned>(channel_descriptor(format, 1).x) / 8 * channels;
}

Result<CUDA_ARRAY3D_DESCRIPTOR> shape_of(const cudaChannelFormatDesc& desc, const cudaExtent& extent, unsigned flags) {
  TRY(const TexelFormat format, texel_format(desc));
  return CUDA_ARRAY3D_DESCRIPTOR{extent.width, extent.height, extent.depth, format.format, format.channels, flags};
}

Result<CUDA_ARRAY3D_DESCRIPTOR> shape_of(const Driver& cu, cudaArray_const_t array) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  TRY(check(cu.cuArray3DGetDescriptor(&shape, driver_array(array))));
  return shape;
}

}  // namespace cupola::cudart

namespace {

Result<> make(const Driver& cu, cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
              unsigned flags) {
  TRY(given(array, "array"));
  TRY(given(desc, "desc"));
  TRY(const CUDA_ARRAY3D_DESCRIPTOR shape, shape_of(*desc, extent, flags));
  CUarray made = nullptr;
  TRY(check(cu.cuArray3DCreate(&made, &shape)));
  *array = reinterpret_cast<cudaArray_t>(made);
  return {};
}

/// Where the rows of a copy are on the side that is not the array.
struct Rows {
  const void* address;
  size_t pitch, width, height;
};

Result<CUDA_MEMCPY2D> between(cudaArray_const_t array, size_t x, size_t y, const Rows& rows, cudaMemcpyKind kind,
                              bool to_array) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return fail(ErrorCode::InvalidMemcpyDirection, "kind is {}, which is no cudaMemcpyKind", static_cast<int>(kind));
  const cudaMemcpyKind with_host = to_array ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  if (kind != with_host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return fail(ErrorCode::InvalidMemcpyDirection, "kind is {}, but an array is device memory", static_cast<int>(kind));
  if (rows.width > rows.pitch)
    return fail(ErrorCode::InvalidPitch, "width is {}, more than the pitch {}", rows.width, rows.pitch);
  const CUmemorytype type = kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
                            : kind == with_host       ? CU_MEMORYTYPE_HOST
                                                      : CU_MEMORYTYPE_DEVICE;
  CUDA_MEMCPY2D copy{};
  copy.WidthInBytes = rows.width;
  copy.Height = rows.height;
  if (to_array) {
    copy.srcMemoryType = type, copy.srcHost = rows.address, copy.srcDevice = address(rows.address);
    copy.srcPitch = rows.pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = driver_array(array);
    copy.dstXInBytes = x, copy.dstY = y;
  } else {
    copy.dstMemoryType = type, copy.dstHost = const_cast<void*>(rows.address), copy.dstDevice = address(rows.address);
    copy.dstPitch = rows.pitch;
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, copy.srcArray = driver_array(array);
    copy.srcXInBytes = x, copy.srcY = y;
  }
  return copy;
}

}  // namespace

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height,
                            unsigned int flags) {
  return with_context([&](const Driver& cu) { return make(cu, array, desc, {width, height, 0}, flags); });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                              unsigned int flags) {
  return with_context([&](const Driver& cu) { return make(cu, array, desc, extent, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return with_context(
      [&](const Driver& cu) { return array ? check(cu.cuArrayDestroy(driver_array(array))) : Result<>{}; });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned int* flags, cudaArray_t array) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const CUDA_ARRAY3D_DESCRIPTOR shape, shape_of(cu, array));
    if (desc) *desc = channel_descriptor(shape.Format, shape.NumChannels);
    if (extent) *extent = {shape.Width, shape.Height, shape.Depth};
    if (flags) *flags = shape.Flags;
    return {};
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(desc, "desc"));
    TRY(const CUDA_ARRAY3D_DESCRIPTOR shape, shape_of(cu, array));
    *desc = channel_descriptor(shape.Format, shape.NumChannels);
    return {};
  });
}

cudaError_t cudaArrayGetPlane(cudaArray_t* pPlaneArray, cudaArray_t hArray, unsigned int planeIdx) {
  return with_context([&](const Driver& cu) -> Result<> {
    CUarray plane = nullptr;
    TRY(check(cu.cuArrayGetPlane(pPlaneArray ? &plane : nullptr, driver_array(hArray), planeIdx)));
    *pPlaneArray = reinterpret_cast<cudaArray_t>(plane);
    return {};
  });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const CUDA_MEMCPY2D copy, between(dst, wOffset, hOffset, {src, spitch, width, height}, kind, true));
    return width && height ? check(cu.cuMemcpy2DUnaligned(&copy)) : Result<>{};
  });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                                     size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const CUDA_MEMCPY2D copy, between(dst, wOffset, hOffset, {src, spitch, width, height}, kind, true));
    return width && height ? check(cu.cuMemcpy2DAsync(&copy, stream)) : Result<>{};
  });
}

cudaError_t cudaMemcpy2DFromArray(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                  size_t width, size_t height, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const CUDA_MEMCPY2D copy, between(src, wOffset, hOffset, {dst, dpitch, width, height}, kind, false));
    return width && height ? check(cu.cuMemcpy2DUnaligned(&copy)) : Result<>{};
  });
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                       size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const CUDA_MEMCPY2D copy, between(src, wOffset, hOffset, {dst, dpitch, width, height}, kind, false));
    return width && height ? check(cu.cuMemcpy2DAsync(&copy, stream)) : Result<>{};
  });
}
