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

/// Errors: InvalidValue for 3 or no channels and for what is no format; NotSupported for those that texel_formats.def
/// lacks.
Result<TexelFormat> texel_format(CUarray_format format, unsigned channels);
/// Errors: InvalidValue for what is no format, CU_RES_VIEW_FORMAT_NONE too; NotSupported for compressed ones.
Result<TexelFormat> texel_format(CUresourceViewFormat view);

/// Error for both: InvalidHandle.
Result<std::shared_ptr<Array>> live_array(CUarray handle);
Result<std::shared_ptr<MipmappedArray>> live_mipmapped_array(CUmipmappedArray handle);

}  // namespace cupola::driver
