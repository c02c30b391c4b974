// Copies and fills. "CUDA Runtime API, Memory Management".

#include "cuda/cudart/copy.h"

#include "cuda/cudart/channel_format.h"
#include "cuda/cudart/public.h"
#include "cuda/cudart/registry.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

Result<> check_kind(cudaMemcpyKind kind) {
  if (kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault) return {};
  return fail(ErrorCode::InvalidMemcpyDirection, "kind is {}, which is no cudaMemcpyKind", static_cast<int>(kind));
}

Result<> copy(const Driver& cu, void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  TRY(check_kind(kind));
  if (count == 0) return {};
  TRY(given(dst, "dst"));
  TRY(given(src, "src"));
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return check(cu.cuMemcpyHtoD(address(dst), src, count));
    case cudaMemcpyDeviceToHost:
      return check(cu.cuMemcpyDtoH(dst, address(src), count));
    case cudaMemcpyDeviceToDevice:
      return check(cu.cuMemcpyDtoD(address(dst), address(src), count));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return check(cu.cuMemcpy(address(dst), address(src), count));
  }
  __builtin_unreachable();
}

Result<> copy_async(const Driver& cu, void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                    cudaStream_t stream) {
  TRY(check_kind(kind));
  if (count == 0) return {};
  TRY(given(dst, "dst"));
  TRY(given(src, "src"));
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return check(cu.cuMemcpyHtoDAsync(address(dst), src, count, stream));
    case cudaMemcpyDeviceToHost:
      return check(cu.cuMemcpyDtoHAsync(dst, address(src), count, stream));
    case cudaMemcpyDeviceToDevice:
      return check(cu.cuMemcpyDtoDAsync(address(dst), address(src), count, stream));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return check(cu.cuMemcpyAsync(address(dst), address(src), count, stream));
  }
  __builtin_unreachable();
}

CUmemorytype source_type(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return CU_MEMORYTYPE_UNIFIED;
  return kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

CUmemorytype destination_type(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return CU_MEMORYTYPE_UNIFIED;
  return kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

/// The fields that two- and three-dimensional copies share. The driver reads host or device addresses by type.
template <typename Copy>
void set_ends(Copy& copy, void* dst, size_t dst_pitch, const void* src, size_t src_pitch, cudaMemcpyKind kind) {
  copy.srcMemoryType = source_type(kind);
  copy.srcHost = src;
  copy.srcDevice = address(src);
  copy.srcPitch = src_pitch;
  copy.dstMemoryType = destination_type(kind);
  copy.dstHost = dst;
  copy.dstDevice = address(dst);
  copy.dstPitch = dst_pitch;
}

Result<CUDA_MEMCPY2D> plane(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            cudaMemcpyKind kind) {
  TRY(check_kind(kind));
  if (width > dpitch || width > spitch) {
    return fail(ErrorCode::InvalidPitch, "width is {}, more than the pitch of the destination ({}) or the source ({})",
                width, dpitch, spitch);
  }
  CUDA_MEMCPY2D copy{};
  set_ends(copy, dst, dpitch, src, spitch, kind);
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

/// Bytes of an array's texel, which positions in it count; 1 where there is no array.
Result<size_t> unit_of(const Driver& cu, cudaArray_t array) {
  if (!array) return 1;
  TRY(const CUDA_ARRAY3D_DESCRIPTOR shape, shape_of(cu, array));
  return texel_bytes(shape.Format, shape.NumChannels);
}

bool empty(const cudaExtent& extent) {
  return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

Result<CUDA_MEMCPY3D> volume(const Driver& cu, const cudaMemcpy3DParms& p) {
  TRY(check_kind(p.kind));
  CUDA_MEMCPY3D copy{};
  set_ends(copy, p.dstPtr.ptr, p.dstPtr.pitch, p.srcPtr.ptr, p.srcPtr.pitch, p.kind);
  TRY(const size_t src_unit, unit_of(cu, p.srcArray));
  TRY(const size_t dst_unit, unit_of(cu, p.dstArray));
  if (p.srcArray) copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, copy.srcArray = driver_array(p.srcArray);
  if (p.dstArray) copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = driver_array(p.dstArray);
  const bool nothing = empty(p.extent);  // which lies anywhere
  const auto x_bytes = [nothing](size_t texels, size_t unit) -> Result<size_t> {
    return nothing ? texels * unit : in_bytes(texels, unit);
  };
  TRY(copy.srcXInBytes, x_bytes(p.srcPos.x, src_unit));
  copy.srcY = p.srcPos.y;
  copy.srcZ = p.srcPos.z;
  copy.srcHeight = p.srcPtr.ysize;
  TRY(copy.dstXInBytes, x_bytes(p.dstPos.x, dst_unit));
  copy.dstY = p.dstPos.y;
  copy.dstZ = p.dstPos.z;
  copy.dstHeight = p.dstPtr.ysize;
  TRY(copy.WidthInBytes, x_bytes(p.extent.width, p.srcArray ? src_unit : dst_unit));
  copy.Height = p.extent.height;
  copy.Depth = p.extent.depth;
  if (nothing) return copy;
  // An array knows its own rows. What is asked of those of memory: an H200 (driver 580).
  if (!p.srcArray) TRY(check_rows(p.srcPtr, copy.WidthInBytes, p.extent, ErrorCode::InvalidPitch));
  if (!p.dstArray) TRY(check_rows(p.dstPtr, copy.WidthInBytes, p.extent, ErrorCode::InvalidPitch));
  return copy;
}

cudaMemcpy3DParms same_device(const cudaMemcpy3DPeerParms& p) {
  return {p.srcArray, p.srcPos, p.srcPtr, p.dstArray, p.dstPos, p.dstPtr, p.extent, cudaMemcpyDefault};
}

/// The address `offset` bytes into a symbol, when `count` bytes fit there.
Result<void*> within_symbol(const Driver& cu, CUcontext context, const void* symbol, size_t offset, size_t count) {
  TRY(DeviceVariable variable, Registry::get().variable(cu, context, symbol));
  if (offset > variable.bytes || count > variable.bytes - offset) {
    return fail(ErrorCode::InvalidValue, "{} bytes at offset {} do not fit into the symbol's {} bytes", count, offset,
                variable.bytes);
  }
  return pointer(variable.address + offset);
}

Result<> check_direction(cudaMemcpyKind kind, cudaMemcpyKind host_side) {
  if (kind == host_side || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault) return {};
  return fail(ErrorCode::InvalidMemcpyDirection, "kind is {}, but a symbol is device memory", static_cast<int>(kind));
}

}  // namespace

Result<size_t> cupola::cudart::in_bytes(size_t elements, size_t bytes) {
  size_t product = 0;
  if (!__builtin_mul_overflow(elements, bytes, &product)) return product;
  return fail(ErrorCode::InvalidValue, "{} elements of {} bytes are larger than any memory", elements, bytes);
}

Result<> cupola::cudart::check_rows(const cudaPitchedPtr& memory, size_t width, const cudaExtent& extent,
                                    ErrorCode code) {
  const bool slices = extent.depth > 1, rows = slices || extent.height > 1;
  if (rows && width > memory.pitch)
    return fail(code, "rows of {} bytes are wider than the pitch {}", width, memory.pitch);
  if (slices && extent.height > memory.ysize)
    return fail(code, "slices of {} rows are asked for, of memory with {} rows a slice", extent.height, memory.ysize);
  return {};
}

Result<CUDA_MEMCPY3D> cupola::cudart::driver_copy(const Driver& cu, const cudaMemcpy3DParms& params) {
  return volume(cu, params);
}

Result<CUDA_MEMCPY3D> cupola::cudart::driver_copy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  TRY(check_kind(kind));
  CUDA_MEMCPY3D copy{};
  set_ends(copy, dst, count, src, count, kind);
  copy.WidthInBytes = count;
  copy.Height = copy.Depth = 1;
  return copy;
}

Result<cudaMemcpy3DParms> cupola::cudart::runtime_copy(const Driver& cu, const CUDA_MEMCPY3D& copy) {
  cudaMemcpy3DParms params{};
  const auto kind_of = [](CUmemorytype source, CUmemorytype destination) {
    if (source == CU_MEMORYTYPE_UNIFIED || destination == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
    const bool from_host = source == CU_MEMORYTYPE_HOST, to_host = destination == CU_MEMORYTYPE_HOST;
    if (from_host) return to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
  };
  params.kind = kind_of(copy.srcMemoryType, copy.dstMemoryType);
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY) params.srcArray = reinterpret_cast<cudaArray_t>(copy.srcArray);
  if (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) params.dstArray = reinterpret_cast<cudaArray_t>(copy.dstArray);
  TRY(const size_t src_unit, unit_of(cu, params.srcArray));
  TRY(const size_t dst_unit, unit_of(cu, params.dstArray));
  if (!params.srcArray) {
    void* const at =
        copy.srcMemoryType == CU_MEMORYTYPE_HOST ? const_cast<void*>(copy.srcHost) : pointer(copy.srcDevice);
    params.srcPtr = {at, copy.srcPitch, copy.srcPitch, copy.srcHeight};
  }
  if (!params.dstArray) {
    void* const at = copy.dstMemoryType == CU_MEMORYTYPE_HOST ? copy.dstHost : pointer(copy.dstDevice);
    params.dstPtr = {at, copy.dstPitch, copy.dstPitch, copy.dstHeight};
  }
  params.srcPos = {copy.srcXInBytes / src_unit, copy.srcY, copy.srcZ};
  params.dstPos = {copy.dstXInBytes / dst_unit, copy.dstY, copy.dstZ};
  params.extent = {copy.WidthInBytes / (params.srcArray ? src_unit : dst_unit), copy.Height, copy.Depth};
  return params;
}

Result<void*> cupola::cudart::symbol_as_destination(const Driver& cu, CUcontext context, const void* symbol,
                                                    size_t offset, size_t count, cudaMemcpyKind kind) {
  TRY(check_direction(kind, cudaMemcpyHostToDevice));
  return within_symbol(cu, context, symbol, offset, count);
}

Result<const void*> cupola::cudart::symbol_as_source(const Driver& cu, CUcontext context, const void* symbol,
                                                     size_t offset, size_t count, cudaMemcpyKind kind) {
  TRY(check_direction(kind, cudaMemcpyDeviceToHost));
  return within_symbol(cu, context, symbol, offset, count);
}

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) { return copy(cu, dst, src, count, kind); });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&](const Driver& cu) { return copy_async(cu, dst, src, count, kind, stream); });
}

cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(primary_context(cu, dstDevice));
    TRY(primary_context(cu, srcDevice));
    return copy(cu, dst, src, count, cudaMemcpyDefault);  // addresses are unified across devices
  });
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice, size_t count,
                                cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(primary_context(cu, dstDevice));
    TRY(primary_context(cu, srcDevice));
    return copy_async(cu, dst, src, count, cudaMemcpyDefault, stream);
  });
}

cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(CUDA_MEMCPY2D copy, plane(dst, dpitch, src, spitch, width, height, kind));
    return width && height ? check(cu.cuMemcpy2DUnaligned(&copy)) : Result<>{};
  });
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(CUDA_MEMCPY2D copy, plane(dst, dpitch, src, spitch, width, height, kind));
    return width && height ? check(cu.cuMemcpy2DAsync(&copy, stream)) : Result<>{};
  });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(p, "p"));
    TRY(CUDA_MEMCPY3D copy, volume(cu, *p));
    return empty(p->extent) ? Result<>{} : check(cu.cuMemcpy3D(&copy));
  });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(p, "p"));
    TRY(CUDA_MEMCPY3D copy, volume(cu, *p));
    return empty(p->extent) ? Result<>{} : check(cu.cuMemcpy3DAsync(&copy, stream));
  });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(p, "p"));
    TRY(CUDA_MEMCPY3D copy, volume(cu, same_device(*p)));
    return empty(p->extent) ? Result<>{} : check(cu.cuMemcpy3D(&copy));
  });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(p, "p"));
    TRY(CUDA_MEMCPY3D copy, volume(cu, same_device(*p)));
    return empty(p->extent) ? Result<>{} : check(cu.cuMemcpy3DAsync(&copy, stream));
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(void* dst, symbol_as_destination(cu, context, symbol, offset, count, kind));
    return copy(cu, dst, src, count, kind);
  });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(void* dst, symbol_as_destination(cu, context, symbol, offset, count, kind));
    return copy_async(cu, dst, src, count, kind, stream);
  });
}

cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(const void* src, symbol_as_source(cu, context, symbol, offset, count, kind));
    return copy(cu, dst, src, count, kind);
  });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(const void* src, symbol_as_source(cu, context, symbol, offset, count, kind));
    return copy_async(cu, dst, src, count, kind, stream);
  });
}

cudaError_t cudaGetSymbolAddress(void** devPtr, const void* symbol) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(devPtr, "devPtr"));
    TRY(DeviceVariable variable, Registry::get().variable(cu, context, symbol));
    *devPtr = pointer(variable.address);
    return {};
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(size, "size"));
    TRY(DeviceVariable variable, Registry::get().variable(cu, context, symbol));
    *size = variable.bytes;
    return {};
  });
}
