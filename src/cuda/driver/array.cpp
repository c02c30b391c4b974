// CUDA arrays. "CUDA Driver API, Memory Management": cuArrayCreate and relatives. An array lies in device memory row by
// row, whose order no program can see.

#include "cuda/driver/texel_format.h"
#include "runtime/memory.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

constexpr uint64_t kRowAlignment = 64, kFaces = 6;
constexpr uint64_t kMostTexels = 131072, kMostSlices = 16384;

Result<> check_shape(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  const unsigned known =
      CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
  if (d.Flags & ~known) return fail(ErrorCode::NotSupported, "arrays with the flags {:#x} are not supported", d.Flags);
  const bool layered = d.Flags & CUDA_ARRAY3D_LAYERED, cube = d.Flags & CUDA_ARRAY3D_CUBEMAP;
  if (d.Width == 0 || d.Width > kMostTexels || d.Height > kMostTexels || d.Depth > kMostSlices)
    return fail(ErrorCode::InvalidValue, "an array of {} x {} x {} is too small or too large", d.Width, d.Height,
                d.Depth);
  if (layered && d.Depth == 0) return fail(ErrorCode::InvalidValue, "a layered array has a depth: its layers");
  if (!layered && d.Depth && !d.Height) return fail(ErrorCode::InvalidValue, "an array with a depth has a height");
  if (cube && (d.Width != d.Height || d.Depth % kFaces != 0 || d.Depth == 0 || (!layered && d.Depth != kFaces)))
    return fail(ErrorCode::InvalidValue, "the faces of a cube are six squares, not {} of {} x {}", d.Depth, d.Width,
                d.Height);
  if ((d.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) && (d.Height == 0 || (d.Depth && !layered)))
    return fail(ErrorCode::InvalidValue, "only arrays of two dimensions can be gathered from");
  return {};
}

Result<> create(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& d) {
  TRY(check_shape(d));
  TRY(const TexelFormat format, texel_format(d.Format, d.NumChannels));
  TRY(std::shared_ptr<Context> context, current_context());
  auto array = std::make_shared<Array>();
  array->owner = context.get();
  array->width = d.Width, array->height = d.Height, array->depth = d.Depth;
  array->format = d.Format, array->channels = d.NumChannels, array->flags = d.Flags;
  array->texel_bytes = format.bytes();
  array->row_pitch = (d.Width * format.bytes() + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  array->slice_pitch = array->row_pitch * array->rows();
  TRY(array->address, allocate(*context, array->slice_pitch * array->slices(), MemoryKind::Device, 0));
  *handle = handle_of<CUarray>(Runtime::get().arrays.add(std::move(array)));
  return {};
}

CUDA_ARRAY3D_DESCRIPTOR described(const Array& array) {
  return {array.width,    array.height, array.depth, static_cast<CUarray_format>(array.format),
          array.channels, array.flags};
}

}  // namespace

CUresult cuArrayCreate_v2(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray) {
  return api_call([&]() -> Result<> {
    TRY(given(pHandle, "pHandle"));
    TRY(given(pAllocateArray, "pAllocateArray"));
    const CUDA_ARRAY_DESCRIPTOR& d = *pAllocateArray;
    return create(pHandle, {d.Width, d.Height, 0, d.Format, d.NumChannels, 0});
  });
}

CUresult cuArray3DCreate_v2(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray) {
  return api_call([&]() -> Result<> {
    TRY(given(pHandle, "pHandle"));
    TRY(given(pAllocateArray, "pAllocateArray"));
    return create(pHandle, *pAllocateArray);
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
  return api_call([&]() -> Result<> {
    TRY(given(pArrayDescriptor, "pArrayDescriptor"));
    TRY(std::shared_ptr<Array> array, live_array(hArray));
    const CUDA_ARRAY3D_DESCRIPTOR d = described(*array);
    *pArrayDescriptor = {d.Width, d.Height, d.Format, d.NumChannels};
    return {};
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
  return api_call([&]() -> Result<> {
    TRY(given(pArrayDescriptor, "pArrayDescriptor"));
    TRY(std::shared_ptr<Array> array, live_array(hArray));
    *pArrayDescriptor = described(*array);
    return {};
  });
}

CUresult cuArrayDestroy(CUarray hArray) {
  return api_call([&]() -> Result<> {
    TRY(current_context_even_if_faulted());
    TRY(check_unsafe_call("freeing memory"));
    const std::shared_ptr<Array> array = Runtime::get().arrays.remove(hArray);
    if (!array) return fail(ErrorCode::InvalidHandle, "that is not a CUDA array");
    return free_memory(array->address);
  });
}
