#include "cuda/driver/texel_format.h"

namespace cupola::driver {

Result<TexelFormat> texel_format(CUarray_format format, unsigned channels) {
  using enum image::ChannelKind;
  struct Row {
    CUarray_format format;
    unsigned char bits;
    image::ChannelKind kind;
  };
  constexpr Row kRows[] = {
      {CU_AD_FORMAT_UNSIGNED_INT8, 8, Unsigned},
      {CU_AD_FORMAT_UNSIGNED_INT16, 16, Unsigned},
      {CU_AD_FORMAT_UNSIGNED_INT32, 32, Unsigned},
      {CU_AD_FORMAT_SIGNED_INT8, 8, Signed},
      {CU_AD_FORMAT_SIGNED_INT16, 16, Signed},
      {CU_AD_FORMAT_SIGNED_INT32, 32, Signed},
      {CU_AD_FORMAT_HALF, 16, Float},
      {CU_AD_FORMAT_FLOAT, 32, Float},
  };
  if (channels != 1 && channels != 2 && channels != 4)
    return fail(ErrorCode::InvalidValue, "a texel of {} channels; there may be 1, 2 or 4", channels);
  for (const Row& row : kRows)
    if (row.format == format) return TexelFormat{static_cast<unsigned char>(channels), row.bits, row.kind};
  return fail(ErrorCode::NotSupported, "the texel format {:#x} is not supported", static_cast<unsigned>(format));
}

Result<std::shared_ptr<Array>> live_array(CUarray handle) {
  std::shared_ptr<Array> array = Runtime::get().arrays.find(handle);
  if (!array) return fail(ErrorCode::InvalidHandle, "that is not a CUDA array");
  return array;
}

Result<std::shared_ptr<MipmappedArray>> live_mipmapped_array(CUmipmappedArray handle) {
  std::shared_ptr<MipmappedArray> array = Runtime::get().mipmapped_arrays.find(handle);
  if (!array) return fail(ErrorCode::InvalidHandle, "that is not a mipmapped array");
  return array;
}

}  // namespace cupola::driver
