// cudaMemset and its family. "CUDA Runtime API, Memory Management".

#include "cuda/cudart/copy.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

unsigned char byte_of(int value) {
  return static_cast<unsigned char>(value);
}

Result<> check_pitch(size_t pitch, size_t width, size_t height) {
  if (height <= 1 || width <= pitch) return {};
  return fail(ErrorCode::InvalidValue, "width is {}, more than the pitch {}", width, pitch);
}

/// Calls fill_plane(address of the slice) for each slice of a pitched volume.
template <typename FillPlane>
Result<> fill_slices(const cudaPitchedPtr& volume, const cudaExtent& extent, FillPlane fill_plane) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return {};
  TRY(given(volume.ptr, "pitchedDevPtr.ptr"));
  TRY(check_rows(volume, extent.width, extent, ErrorCode::InvalidValue));
  // Unlike a copy's, a single slice has a height too: an H200 (driver 580).
  if (extent.height > 1 && extent.height > volume.ysize)
    return fail(ErrorCode::InvalidValue, "height is {}, more than the {} rows of a slice", extent.height, volume.ysize);
  size_t slice = 0;
  if (extent.depth > 1) {
    TRY(slice, in_bytes(volume.ysize, volume.pitch));
    TRY(in_bytes(extent.depth - 1, slice));
  }
  for (size_t z = 0; z < extent.depth; ++z) TRY(check(fill_plane(address(volume.ptr) + z * slice)));
  return {};
}

}  // namespace

cudaError_t cudaMemset(void* devPtr, int value, size_t count) {
  return with_context([&](const Driver& cu) -> Result<> {
    if (count == 0) return {};
    TRY(given(devPtr, "devPtr"));
    return check(cu.cuMemsetD8(address(devPtr), byte_of(value), count));
  });
}

cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    if (count == 0) return {};
    TRY(given(devPtr, "devPtr"));
    return check(cu.cuMemsetD8Async(address(devPtr), byte_of(value), count, stream));
  });
}

cudaError_t cudaMemset2D(void* devPtr, size_t pitch, int value, size_t width, size_t height) {
  return with_context([&](const Driver& cu) -> Result<> {
    if (width == 0 || height == 0) return {};
    TRY(given(devPtr, "devPtr"));
    TRY(check_pitch(pitch, width, height));
    return check(cu.cuMemsetD2D8(address(devPtr), pitch, byte_of(value), width, height));
  });
}

cudaError_t cudaMemset2DAsync(void* devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    if (width == 0 || height == 0) return {};
    TRY(given(devPtr, "devPtr"));
    TRY(check_pitch(pitch, width, height));
    return check(cu.cuMemsetD2D8Async(address(devPtr), pitch, byte_of(value), width, height, stream));
  });
}

cudaError_t cudaMemset3D(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent) {
  return with_context([&](const Driver& cu) {
    return fill_slices(pitchedDevPtr, extent, [&](CUdeviceptr slice) {
      return cu.cuMemsetD2D8(slice, pitchedDevPtr.pitch, byte_of(value), extent.width, extent.height);
    });
  });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent, cudaStream_t stream) {
  return with_context([&](const Driver& cu) {
    return fill_slices(pitchedDevPtr, extent, [&](CUdeviceptr slice) {
      return cu.cuMemsetD2D8Async(slice, pitchedDevPtr.pitch, byte_of(value), extent.width, extent.height, stream);
    });
  });
}
