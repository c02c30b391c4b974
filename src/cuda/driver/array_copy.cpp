// Copies of bytes in a row to, from and between CUDA arrays. "CUDA Driver API, Memory Management": cuMemcpyAtoA and
// relatives. Offsets count bytes through the rows of an array, one after another; a copy is made of boxes.

#include <algorithm>

#include "cuda/driver/texel_format.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

/// One side of a copy: plain memory, or an array.
struct Side {
  CUmemorytype type;
  void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  size_t offset = 0;
  size_t row = SIZE_MAX, bytes = SIZE_MAX;  ///< of the array

  size_t left_in_row() const { return row == SIZE_MAX ? SIZE_MAX : row - offset % row; }
};

Side host(const void* pointer) {
  return {CU_MEMORYTYPE_HOST, const_cast<void*>(pointer)};
}
Side device(CUdeviceptr address) {
  return {CU_MEMORYTYPE_DEVICE, nullptr, address};
}
Side array(CUarray handle, size_t offset) {
  return {CU_MEMORYTYPE_ARRAY, nullptr, 0, handle, offset};
}

Result<> measure(Side& side, size_t bytes) {
  if (side.type != CU_MEMORYTYPE_ARRAY) return {};
  TRY(given(side.array, "the array"));
  TRY(const std::shared_ptr<Array> found, live_array(side.array));
  side.row = found->width * found->texel_bytes;
  side.bytes = side.row * found->rows();
  if (side.offset > side.bytes || bytes > side.bytes - side.offset)
    return fail(ErrorCode::InvalidValue, "{} bytes at offset {} are not within an array of {} bytes", bytes,
                side.offset, side.bytes);
  return {};
}

void set_source(CUDA_MEMCPY2D& copy, const Side& side, size_t done) {
  copy.srcMemoryType = side.type;
  if (side.array)
    copy.srcArray = side.array, copy.srcXInBytes = side.offset % side.row, copy.srcY = side.offset / side.row;
  if (side.host) copy.srcHost = static_cast<const char*>(side.host) + done;
  if (side.device) copy.srcDevice = side.device + done;
  copy.srcPitch = copy.WidthInBytes;
}

void set_destination(CUDA_MEMCPY2D& copy, const Side& side, size_t done) {
  copy.dstMemoryType = side.type;
  if (side.array)
    copy.dstArray = side.array, copy.dstXInBytes = side.offset % side.row, copy.dstY = side.offset / side.row;
  if (side.host) copy.dstHost = static_cast<char*>(side.host) + done;
  if (side.device) copy.dstDevice = side.device + done;
  copy.dstPitch = copy.WidthInBytes;
}

/// The next box: whole rows where both sides are at the beginning of one, else a part of a row.
CUDA_MEMCPY2D next_box(const Side& to, const Side& from, size_t left) {
  CUDA_MEMCPY2D copy{};
  copy.WidthInBytes = std::min({left, to.left_in_row(), from.left_in_row()});
  copy.Height = 1;
  const size_t row = std::min(to.row, from.row);
  const bool same = to.row == from.row || to.row == SIZE_MAX || from.row == SIZE_MAX;
  if (same && copy.WidthInBytes == row) copy.Height = left / row;
  return copy;
}

CUresult run(Side to, Side from, size_t bytes, CUstream stream, bool asynchronous, const char* call) {
  if (CUresult status = api_call(
          [&]() -> Result<> {
            TRY(capturable_stream(stream));
            TRY(measure(to, bytes));
            return measure(from, bytes);
          },
          call);
      status != CUDA_SUCCESS)
    return status;
  for (size_t done = 0; done < bytes;) {
    CUDA_MEMCPY2D copy = next_box(to, from, bytes - done);
    set_source(copy, from, done);
    set_destination(copy, to, done);
    const CUresult status = asynchronous ? cuMemcpy2DAsync_v2(&copy, stream) : cuMemcpy2D_v2(&copy);
    if (status != CUDA_SUCCESS) return status;
    const size_t moved = copy.WidthInBytes * copy.Height;
    done += moved;
    to.offset += moved;
    from.offset += moved;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  return run(array(dstArray, dstOffset), array(srcArray, srcOffset), ByteCount, nullptr, false, __func__);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  return run(device(dstDevice), array(srcArray, srcOffset), ByteCount, nullptr, false, __func__);
}
CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount) {
  return run(array(dstArray, dstOffset), device(srcDevice), ByteCount, nullptr, false, __func__);
}
CUresult cuMemcpyAtoH_v2(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  return run(host(dstHost), array(srcArray, srcOffset), ByteCount, nullptr, false, __func__);
}
CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t ByteCount) {
  return run(array(dstArray, dstOffset), host(srcHost), ByteCount, nullptr, false, __func__);
}
CUresult cuMemcpyAtoHAsync_v2(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream) {
  return run(host(dstHost), array(srcArray, srcOffset), ByteCount, hStream, true, __func__);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t ByteCount,
                              CUstream hStream) {
  return run(array(dstArray, dstOffset), host(srcHost), ByteCount, hStream, true, __func__);
}
