#pragma once

#include "cuda/cudart/api.h"

// What the runtime API says with a channel descriptor, the driver says with a format and a number of channels.

namespace cupola::cudart {

// All functions: any thread.

/// What the driver says.
struct TexelFormat {
  CUarray_format format;  ///< of a channel
  unsigned channels;      ///< 1, 2 or 4
};

/// Errors: cudaErrorInvalidChannelDescriptor for 3 channels, channels of several sizes and what is no format;
/// NotSupported for kinds that are documented.
Result<TexelFormat> texel_format(const cudaChannelFormatDesc& desc);
/// The bits of each of 1, 2 or 4 channels, and their kind; no bits and cudaChannelFormatKindNone for a format that
/// arrays cannot have.
cudaChannelFormatDesc channel_descriptor(CUarray_format format, unsigned channels);
/// Of all channels together; 0 for a format that arrays cannot have.
unsigned texel_bytes(CUarray_format format, unsigned channels);

/// What cuArray3DCreate and cuMipmappedArrayCreate get. Errors: those of texel_format.
Result<CUDA_ARRAY3D_DESCRIPTOR> shape_of(const cudaChannelFormatDesc& desc, const cudaExtent& extent, unsigned flags);
/// The array's shape. Errors: the driver's.
Result<CUDA_ARRAY3D_DESCRIPTOR> shape_of(const Driver& cu, cudaArray_const_t array);

/// The handle is the driver's.
inline CUarray driver_array(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}
inline CUmipmappedArray driver_array(cudaMipmappedArray_const_t array) {
  return reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray_t>(array));
}

}  // namespace cupola::cudart
