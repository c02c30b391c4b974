#pragma once

#include "cuda/driver/api.h"
#include "image/texture_abi.h"

namespace cupola::driver {

/// What a texel is made of.
struct TexelFormat {
  unsigned char channels, channel_bits;
  image::ChannelKind kind;
  unsigned bytes() const { return channels * channel_bits / 8u; }
};

/// Errors: InvalidValue for 3 or no channels, NotSupported for formats other than 8, 16 and 32-bit numbers.
Result<TexelFormat> texel_format(CUarray_format format, unsigned channels);

/// Error for both: InvalidHandle.
Result<std::shared_ptr<Array>> live_array(CUarray handle);
Result<std::shared_ptr<MipmappedArray>> live_mipmapped_array(CUmipmappedArray handle);

}  // namespace cupola::driver
