#pragma once

#include "cuda/driver/texel_format.h"

namespace cupola::driver {

/// An array of this shape, laid out but without memory: its address counts from 0. Errors: InvalidValue for shapes
/// that "CUDA Driver API, Memory Management" has no row for or that the device is too small for, NotSupported.
Result<Array> array_of_shape(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& shape, bool is_mipmapped);

/// Bytes from the first texel to behind the last row.
inline uint64_t bytes_of(const Array& array) {
  return array.slice_pitch * array.slices();
}

CUDA_ARRAY3D_DESCRIPTOR described(const Array& array);

}  // namespace cupola::driver
