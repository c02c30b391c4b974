// Copies of bytes in a row to, from and between CUDA arrays. "CUDA Runtime API, Memory Management [DEPRECATED]":
// cudaMemcpyToArray and relatives.

#include <algorithm>

#include "cuda/cudart/channel_format.h"
#include "cuda/cudart/public.h"
#include "cuda/row_copy.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

Result<RowSide> array_side(const Driver& cu, cudaArray_const_t array, size_t x, size_t y) {
  TRY(const CUDA_ARRAY3D_DESCRIPTOR shape, shape_of(cu, array));
  const size_t row = shape.Width * texel_bytes(shape.Format, shape.NumChannels);
  const size_t rows = std::max<size_t>(shape.Height, 1);
  if (x >= row || y >= rows)
    return fail(ErrorCode::InvalidValue, "byte {} of row {} is not in an array of {} rows of {} bytes", x, y, rows,
                row);
  return RowSide{.type = CU_MEMORYTYPE_ARRAY, .array = driver_array(array), .offset = y * row + x, .row = row};
}

Result<RowSide> memory_side(const void* memory, cudaMemcpyKind kind, cudaMemcpyKind with_host) {
  RowSide side{.host = const_cast<void*>(memory), .device = address(memory)};
  if (kind == with_host)
    side.type = CU_MEMORYTYPE_HOST;
  else if (kind == cudaMemcpyDeviceToDevice)
    side.type = CU_MEMORYTYPE_DEVICE;
  else if (kind == cudaMemcpyDefault)
    side.type = CU_MEMORYTYPE_UNIFIED;
  else
    return fail(ErrorCode::InvalidMemcpyDirection, "kind is {}, but an array is device memory", static_cast<int>(kind));
  return side;
}

/// `each` is the driver's call.
template <typename Each>
Result<> copy_rows(const RowSide& to, const RowSide& from, size_t bytes, Each each) {
  RowCopy boxes(to, from, bytes);
  while (const auto box = boxes.next()) TRY(check(each(*box)));
  return {};
}

auto now(const Driver& cu) {
  return [&cu](const CUDA_MEMCPY2D& copy) { return cu.cuMemcpy2DUnaligned(&copy); };
}

auto later(const Driver& cu, cudaStream_t stream) {
  return [&cu, stream](const CUDA_MEMCPY2D& copy) { return cu.cuMemcpy2DAsync(&copy, stream); };
}

}  // namespace

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t count,
                              cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const RowSide to, array_side(cu, dst, wOffset, hOffset));
    TRY(const RowSide from, memory_side(src, kind, cudaMemcpyHostToDevice));
    return copy_rows(to, from, count, now(cu));
  });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t count,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const RowSide to, array_side(cu, dst, wOffset, hOffset));
    TRY(const RowSide from, memory_side(src, kind, cudaMemcpyHostToDevice));
    return copy_rows(to, from, count, later(cu, stream));
  });
}

cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const RowSide from, array_side(cu, src, wOffset, hOffset));
    TRY(const RowSide to, memory_side(dst, kind, cudaMemcpyDeviceToHost));
    return copy_rows(to, from, count, now(cu));
  });
}

cudaError_t cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const RowSide from, array_side(cu, src, wOffset, hOffset));
    TRY(const RowSide to, memory_side(dst, kind, cudaMemcpyDeviceToHost));
    return copy_rows(to, from, count, later(cu, stream));
  });
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                   size_t wOffsetSrc, size_t hOffsetSrc, size_t count, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const RowSide to, array_side(cu, dst, wOffsetDst, hOffsetDst));
    TRY(const RowSide from, array_side(cu, src, wOffsetSrc, hOffsetSrc));
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
      return fail(ErrorCode::InvalidMemcpyDirection, "kind is {}, but arrays are device memory",
                  static_cast<int>(kind));
    return copy_rows(to, from, count, now(cu));
  });
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                     size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                                     cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) -> Result<> {
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
      return fail(ErrorCode::InvalidMemcpyDirection, "kind is {}, but arrays are device memory",
                  static_cast<int>(kind));
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, copy.srcArray = driver_array(src);
    copy.srcXInBytes = wOffsetSrc, copy.srcY = hOffsetSrc;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = driver_array(dst);
    copy.dstXInBytes = wOffsetDst, copy.dstY = hOffsetDst;
    copy.WidthInBytes = width, copy.Height = height;
    return width && height ? check(cu.cuMemcpy2DUnaligned(&copy)) : Result<>{};
  });
}
