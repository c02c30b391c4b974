// Copies of bytes in a row to, from and between CUDA arrays. "CUDA Driver API, Memory Management": cuMemcpyAtoA and
// relatives.

#include "cuda/driver/copy.h"
#include "cuda/driver/texel_format.h"
#include "cuda/row_copy.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

RowSide host(const void* pointer) {
  return {.type = CU_MEMORYTYPE_HOST, .host = const_cast<void*>(pointer)};
}
RowSide device(CUdeviceptr address) {
  return {.type = CU_MEMORYTYPE_DEVICE, .device = address};
}
RowSide array(CUarray handle, size_t offset) {
  return {.type = CU_MEMORYTYPE_ARRAY, .array = handle, .offset = offset};
}

/// Sets the rows of an array. Errors: null, none, and bytes that are not all within it.
Result<> measure(RowSide& side, size_t bytes) {
  if (side.type != CU_MEMORYTYPE_ARRAY) return {};
  TRY(given(side.array, "the array"));
  TRY(const std::shared_ptr<Array> found, live_array(side.array));
  side.row = found->width * found->texel_bytes;
  const size_t whole = side.row * found->rows();
  if (side.offset <= whole && bytes <= whole - side.offset) return {};
  return fail(ErrorCode::InvalidValue, "{} bytes at offset {} are not within an array of {} bytes", bytes, side.offset,
              whole);
}

CUresult run(RowSide to, RowSide from, size_t bytes, CUstream stream, bool asynchronous, const char* call) {
  return api_call(
      [&]() -> Result<> {
        TRY(capturable_stream(stream));
        TRY(measure(to, bytes));
        TRY(measure(from, bytes));
        RowCopy boxes(to, from, bytes);
        while (const auto box = boxes.next()) TRY(copy_plane(*box, stream, asynchronous));
        return {};
      },
      call);
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
