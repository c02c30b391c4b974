// Copies of bytes in a row to, from and between CUDA arrays. "CUDA Runtime API, Memory Management [DEPRECATED]":
// cudaMemcpyToArray and relatives. Bytes run through the rows of an array, one after another; a copy is made of boxes.

#include <algorithm>

#include "cuda/cudart/channel_format.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

/// One side of a copy: plain memory, or an array.
struct Side {
  CUmemorytype type;
  const void* memory = nullptr;
  CUarray array = nullptr;
  size_t offset = 0, row = SIZE_MAX;

  size_t left_in_row() const { return row == SIZE_MAX ? SIZE_MAX : row - offset % row; }
};

Result<Side> array_side(const Driver& cu, cudaArray_const_t array, size_t x, size_t y) {
  TRY(const CUDA_ARRAY3D_DESCRIPTOR shape, shape_of(cu, array));
  const size_t row = shape.Width * texel_bytes(shape.Format, shape.NumChannels);
  const size_t rows = std::max<size_t>(shape.Height, 1);
  if (x >= row || y >= rows)
    return fail(ErrorCode::InvalidValue, "byte {} of row {} is not in an array of {} rows of {} bytes", x, y, rows,
                row);
  return Side{CU_MEMORYTYPE_ARRAY, nullptr, driver_array(array), y * row + x, row};
}

Result<Side> memory_side(const void* memory, cudaMemcpyKind kind, cudaMemcpyKind with_host) {
  if (kind == with_host) return Side{CU_MEMORYTYPE_HOST, memory};
  if (kind == cudaMemcpyDeviceToDevice) return Side{CU_MEMORYTYPE_DEVICE, memory};
  if (kind == cudaMemcpyDefault) return Side{CU_MEMORYTYPE_UNIFIED, memory};
  return fail(ErrorCode::InvalidMemcpyDirection, "kind is {}, but an array is device memory", static_cast<int>(kind));
}

void set_source(CUDA_MEMCPY2D& copy, const Side& side, size_t done) {
  const auto* const memory = static_cast<const char*>(side.memory) + (side.memory ? done : 0);
  copy.srcMemoryType = side.type;
  copy.srcHost = memory, copy.srcDevice = address(memory), copy.srcPitch = copy.WidthInBytes;
  if (!side.array) return;
  copy.srcArray = side.array, copy.srcXInBytes = side.offset % side.row, copy.srcY = side.offset / side.row;
}

void set_destination(CUDA_MEMCPY2D& copy, const Side& side, size_t done) {
  auto* const memory = const_cast<char*>(static_cast<const char*>(side.memory)) + (side.memory ? done : 0);
  copy.dstMemoryType = side.type;
  copy.dstHost = memory, copy.dstDevice = address(memory), copy.dstPitch = copy.WidthInBytes;
  if (!side.array) return;
  copy.dstArray = side.array, copy.dstXInBytes = side.offset % side.row, copy.dstY = side.offset / side.row;
}

/// Copies box by box: whole rows where both sides are at the beginning of one, else parts of rows. `each` is the
/// driver's call.
template <typename Each>
Result<> copy_rows(Side to, Side from, size_t bytes, Each each) {
  for (size_t done = 0; done < bytes;) {
    CUDA_MEMCPY2D copy{};
    const size_t left = bytes - done, row = std::min(to.row, from.row);
    copy.WidthInBytes = std::min({left, to.left_in_row(), from.left_in_row()});
    const bool same = to.row == from.row || to.row == SIZE_MAX || from.row == SIZE_MAX;
    copy.Height = same && copy.WidthInBytes == row ? left / row : 1;
    set_source(copy, from, done);
    set_destination(copy, to, done);
    TRY(check(each(copy)));
    const size_t moved = copy.WidthInBytes * copy.Height;
    done += moved, to.offset += moved, from.offset += moved;
  }
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
    TRY(const Side to, array_side(cu, dst, wOffset, hOffset));
    TRY(const Side from, memory_side(src, kind, cudaMemcpyHostToDevice));
    return copy_rows(to, from, count, now(cu));
  });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t count,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const Side to, array_side(cu, dst, wOffset, hOffset));
    TRY(const Side from, memory_side(src, kind, cudaMemcpyHostToDevice));
    return copy_rows(to, from, count, later(cu, stream));
  });
}

cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const Side from, array_side(cu, src, wOffset, hOffset));
    TRY(const Side to, memory_side(dst, kind, cudaMemcpyDeviceToHost));
    return copy_rows(to, from, count, now(cu));
  });
}

cudaError_t cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const Side from, array_side(cu, src, wOffset, hOffset));
    TRY(const Side to, memory_side(dst, kind, cudaMemcpyDeviceToHost));
    return copy_rows(to, from, count, later(cu, stream));
  });
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                   size_t wOffsetSrc, size_t hOffsetSrc, size_t count, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const Side to, array_side(cu, dst, wOffsetDst, hOffsetDst));
    TRY(const Side from, array_side(cu, src, wOffsetSrc, hOffsetSrc));
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
