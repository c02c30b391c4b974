// Copies and fills. "CUDA Driver API, Memory Management".

#include "cuda/driver/copy.h"

#include "cuda/driver/texel_format.h"
#include "runtime/transfer.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

constexpr CUstream kDefaultStream = nullptr;

hal::Address address(const void* pointer) {
  return reinterpret_cast<hal::Address>(pointer);
}

Result<> linear(hal::Address destination, End to, hal::Address source, End from, size_t bytes, CUstream handle,
                bool asynchronous) {
  TRY(std::shared_ptr<Stream> stream, capturable_stream(handle));
  return copy(*stream, {.destination = destination, .source = source, .width = bytes}, to, from, asynchronous);
}

CUresult copy_now(hal::Address destination, End to, hal::Address source, End from, size_t bytes, const char* call) {
  return api_call([&] { return linear(destination, to, source, from, bytes, kDefaultStream, false); }, call);
}

CUresult copy_later(hal::Address destination, End to, hal::Address source, End from, size_t bytes, CUstream stream,
                    const char* call) {
  return api_call([&] { return linear(destination, to, source, from, bytes, stream, true); }, call);
}

/// One end of a box: where it begins, and the distances between rows and slices.
struct BoxEnd {
  hal::Address address;
  End end;
  uint64_t pitch, slice;
};

/// Sizes and offsets are the program's own numbers: none may wrap around.
struct Checked {
  uint64_t value = 0;
  bool wrapped = false;

  Checked(uint64_t number) : value(number) {}  // NOLINT(google-explicit-constructor)
  friend Checked operator+(Checked a, Checked b) {
    a.wrapped |= b.wrapped | __builtin_add_overflow(a.value, b.value, &a.value);
    return a;
  }
  friend Checked operator*(Checked a, Checked b) {
    a.wrapped |= b.wrapped | __builtin_mul_overflow(a.value, b.value, &a.value);
    return a;
  }
};

/// The number. Error: InvalidValue when it is larger than any address.
Result<uint64_t> in_range(Checked number, const char* what) {
  if (!number.wrapped) return number.value;
  return fail(ErrorCode::InvalidValue, "the {} runs past the end of the address space", what);
}

/// The array that an end of a copy is; null for other memory. Error: InvalidValue when the box is not inside.
Result<std::shared_ptr<Array>> array_end(CUmemorytype type, CUarray handle, Checked right, Checked bottom, Checked back,
                                         const char* what) {
  if (type != CU_MEMORYTYPE_ARRAY) return nullptr;
  TRY(std::shared_ptr<Array> array, live_array(handle));
  TRY(const uint64_t x, in_range(right, what));
  TRY(const uint64_t y, in_range(bottom, what));
  TRY(const uint64_t z, in_range(back, what));
  if (x > array->width * array->texel_bytes || y > array->rows() || z > array->slices())
    return fail(ErrorCode::InvalidValue, "the {} ends at byte {}, row {}, slice {} of an array of {}, {}, {}", what, x,
                y, z, array->width * array->texel_bytes, array->rows(), array->slices());
  return array;
}

struct Memory {
  hal::Address address;
  End end;
};

/// What an end of a copy is. Error: InvalidValue for a type that is none.
Result<Memory> memory_of(CUmemorytype type, const void* host, CUdeviceptr device, const Array* array,
                         const char* what) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      return Memory{address(host), End::Host};
    case CU_MEMORYTYPE_DEVICE:
      return Memory{device, End::Device};
    case CU_MEMORYTYPE_UNIFIED:
      return Memory{device, End::Unified};
    case CU_MEMORYTYPE_ARRAY:
      return Memory{array->address, End::Device};
  }
  return fail(ErrorCode::InvalidValue, "the {} memory type is {}, which is no CUmemorytype", what,
              static_cast<int>(type));
}

Result<BoxEnd> box_end(CUmemorytype type, const void* host, CUdeviceptr device, const Array* array, size_t x, size_t y,
                       size_t z, size_t pitch, size_t height, const char* what) {
  TRY(const Memory memory, memory_of(type, host, device, array, what));
  const Checked slice = Checked(pitch) * height;
  // A slice that wraps is of no consequence while nothing lies behind the first.
  BoxEnd result{memory.address, memory.end, pitch, slice.value};
  if (result.address == 0) return fail(ErrorCode::InvalidValue, "the {} is null", what);
  const Checked offset = Checked(x) + Checked(y) * pitch + (z ? Checked(z) * slice : 0);
  TRY(result.address, in_range(result.address + offset, what));
  return result;
}

Result<> check_pitch(uint64_t pitch, size_t x, size_t width, const char* what) {
  TRY(const uint64_t row, in_range(Checked(x) + width, what));
  if (pitch >= row) return {};
  return fail(ErrorCode::InvalidValue, "the {} pitch is {} bytes, less than a row of {}", what, pitch, row);
}

/// Works for both structures: a plane is a volume of one slice. Pitches matter once there are several rows; zero means
/// rows without gaps, as documented for host and device ends.
template <typename Parameters>
Result<CopyWork> box_copy(const Parameters& p, size_t src_z, size_t dst_z, size_t src_height, size_t dst_height,
                          size_t depth) {
  if (p.WidthInBytes == 0 || p.Height == 0 || depth == 0) return CopyWork{};
  TRY(const auto src_array, array_end(p.srcMemoryType, p.srcArray, Checked(p.srcXInBytes) + p.WidthInBytes,
                                      Checked(p.srcY) + p.Height, Checked(src_z) + depth, "source"));
  TRY(const auto dst_array, array_end(p.dstMemoryType, p.dstArray, Checked(p.dstXInBytes) + p.WidthInBytes,
                                      Checked(p.dstY) + p.Height, Checked(dst_z) + depth, "destination"));
  const size_t src_pitch = src_array ? src_array->row_pitch : p.srcPitch ? p.srcPitch : p.WidthInBytes;
  const size_t dst_pitch = dst_array ? dst_array->row_pitch : p.dstPitch ? p.dstPitch : p.WidthInBytes;
  if (src_array) src_height = src_array->rows();
  if (dst_array) dst_height = dst_array->rows();
  if (p.Height > 1 || depth > 1) {
    TRY(check_pitch(src_pitch, p.srcXInBytes, p.WidthInBytes, "source"));
    TRY(check_pitch(dst_pitch, p.dstXInBytes, p.WidthInBytes, "destination"));
  }
  if (depth > 1) {
    TRY(const uint64_t src_rows, in_range(Checked(p.srcY) + p.Height, "source"));
    TRY(const uint64_t dst_rows, in_range(Checked(p.dstY) + p.Height, "destination"));
    if (src_height < src_rows || dst_height < dst_rows)
      return fail(ErrorCode::InvalidValue, "slices of {} and {} rows are less high than the box of {}", src_height,
                  dst_height, p.Height);
    TRY(in_range(Checked(src_pitch) * src_height, "source"));
    TRY(in_range(Checked(dst_pitch) * dst_height, "destination"));
  }
  TRY(BoxEnd from, box_end(p.srcMemoryType, p.srcHost, p.srcDevice, src_array.get(), p.srcXInBytes, p.srcY, src_z,
                           src_pitch, src_height, "source"));
  TRY(BoxEnd to, box_end(p.dstMemoryType, p.dstHost, p.dstDevice, dst_array.get(), p.dstXInBytes, p.dstY, dst_z,
                         dst_pitch, dst_height, "destination"));
  const hal::Copy command{.destination = to.address,
                          .source = from.address,
                          .width = p.WidthInBytes,
                          .height = p.Height,
                          .depth = depth,
                          .destination_pitch = to.pitch,
                          .source_pitch = from.pitch,
                          .destination_slice = to.slice,
                          .source_slice = from.slice};
  return CopyWork{command, to.end, from.end};
}

template <typename Parameters>
Result<> box(const Parameters& p, size_t src_z, size_t dst_z, size_t src_height, size_t dst_height, size_t depth,
             CUstream handle, bool asynchronous) {
  TRY(std::shared_ptr<Stream> stream, capturable_stream(handle));
  TRY(const CopyWork work, box_copy(p, src_z, dst_z, src_height, dst_height, depth));
  return copy(*stream, work.command, work.destination, work.source, asynchronous);
}

CUresult plane(const CUDA_MEMCPY2D* p, CUstream stream, bool asynchronous, const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        TRY(given(p, "pCopy"));
        return copy_plane(*p, stream, asynchronous);
      },
      call);
}

template <typename Parameters>
CUresult volume(const Parameters* p, CUstream stream, bool asynchronous, const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        TRY(given(p, "pCopy"));
        const size_t src_height = p->srcHeight ? p->srcHeight : p->Height;
        const size_t dst_height = p->dstHeight ? p->dstHeight : p->Height;
        return box(*p, p->srcZ, p->dstZ, src_height, dst_height, p->Depth, stream, asynchronous);
      },
      call);
}

}  // namespace

Result<CopyWork> cupola::driver::copy_work(const CUDA_MEMCPY3D& p) {
  return box_copy(p, p.srcZ, p.dstZ, p.srcHeight ? p.srcHeight : p.Height, p.dstHeight ? p.dstHeight : p.Height,
                  p.Depth);
}

Result<> cupola::driver::copy_plane(const CUDA_MEMCPY2D& params, CUstream stream, bool asynchronous) {
  return box(params, 0, 0, 0, 0, 1, stream, asynchronous);  // one slice, so its height is of no consequence
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
  return copy_now(dst, End::Unified, src, End::Unified, ByteCount, __func__);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) {
  return copy_now(dstDevice, End::Device, address(srcHost), End::Host, ByteCount, __func__);
}
CUresult cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy_now(address(dstHost), End::Host, srcDevice, End::Device, ByteCount, __func__);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy_now(dstDevice, End::Device, srcDevice, End::Device, ByteCount, __func__);
}
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
  return copy_later(dst, End::Unified, src, End::Unified, ByteCount, hStream, __func__);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount, CUstream hStream) {
  return copy_later(dstDevice, End::Device, address(srcHost), End::Host, ByteCount, hStream, __func__);
}
CUresult cuMemcpyDtoHAsync_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
  return copy_later(address(dstHost), End::Host, srcDevice, End::Device, ByteCount, hStream, __func__);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
  return copy_later(dstDevice, End::Device, srcDevice, End::Device, ByteCount, hStream, __func__);
}

// Addresses are unified across contexts and devices: a copy between peers is a copy.
CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                      size_t ByteCount) {
  return api_call([&]() -> Result<> {
    TRY(Runtime::get().context(dstContext));
    TRY(Runtime::get().context(srcContext));
    return linear(dstDevice, End::Device, srcDevice, End::Device, ByteCount, kDefaultStream, false);
  });
}
CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                           size_t ByteCount, CUstream hStream) {
  return api_call([&]() -> Result<> {
    TRY(Runtime::get().context(dstContext));
    TRY(Runtime::get().context(srcContext));
    return linear(dstDevice, End::Device, srcDevice, End::Device, ByteCount, hStream, true);
  });
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* pCopy) {
  return plane(pCopy, kDefaultStream, false);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* pCopy) {
  return plane(pCopy, kDefaultStream, false);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) {
  return plane(pCopy, hStream, true);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* pCopy) {
  return volume(pCopy, kDefaultStream, false);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* pCopy, CUstream hStream) {
  return volume(pCopy, hStream, true);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) {
  return volume(pCopy, kDefaultStream, false);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
  return volume(pCopy, hStream, true);
}

// ---- fills ----

namespace {

template <typename Value>
CUresult fill_with(CUdeviceptr destination, size_t pitch, Value value, size_t width, size_t height, CUstream handle,
                   bool asynchronous, const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        TRY(std::shared_ptr<Stream> stream, capturable_stream(handle));
        return fill(*stream,
                    {.destination = destination,
                     .value = value,
                     .value_bytes = sizeof(Value),
                     .width = width,
                     .height = height,
                     .pitch = pitch},
                    asynchronous);
      },
      call);
}

}  // namespace

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
  return fill_with(dstDevice, 0, uc, N, 1, kDefaultStream, false);
}
CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
  return fill_with(dstDevice, 0, us, N, 1, kDefaultStream, false);
}
CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
  return fill_with(dstDevice, 0, ui, N, 1, kDefaultStream, false);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height) {
  return fill_with(dstDevice, dstPitch, uc, Width, Height, kDefaultStream, false);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) {
  return fill_with(dstDevice, dstPitch, us, Width, Height, kDefaultStream, false);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height) {
  return fill_with(dstDevice, dstPitch, ui, Width, Height, kDefaultStream, false);
}
CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
  return fill_with(dstDevice, 0, uc, N, 1, hStream, true);
}
CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
  return fill_with(dstDevice, 0, us, N, 1, hStream, true);
}
CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
  return fill_with(dstDevice, 0, ui, N, 1, hStream, true);
}
CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                           CUstream hStream) {
  return fill_with(dstDevice, dstPitch, uc, Width, Height, hStream, true);
}
CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
                            CUstream hStream) {
  return fill_with(dstDevice, dstPitch, us, Width, Height, hStream, true);
}
CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                            CUstream hStream) {
  return fill_with(dstDevice, dstPitch, ui, Width, Height, hStream, true);
}
