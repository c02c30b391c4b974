#include "cuda/driver/texel_format.h"

#include <algorithm>

namespace cupola::driver {

namespace {

struct Row {
  CUarray_format format;
  unsigned char bits;
  image::ChannelKind kind;
};
constexpr Row kRows[] = {
#define CU_TEXEL_FORMAT(name, number, bits, kind) {CU_AD_FORMAT_##name, bits, image::ChannelKind::kind},
#define CU_TEXEL_FORMAT_LACKING(name, number)
#include "cupola/texel_formats.def"
#undef CU_TEXEL_FORMAT_LACKING
#undef CU_TEXEL_FORMAT
};

constexpr CUarray_format kLacking[] = {
#define CU_TEXEL_FORMAT(name, number, bits, kind)
#define CU_TEXEL_FORMAT_LACKING(name, number) CU_AD_FORMAT_##name,
#include "cupola/texel_formats.def"
#undef CU_TEXEL_FORMAT_LACKING
#undef CU_TEXEL_FORMAT
};
/// Of the formats that arrays may have, each with a comma before it.
constexpr std::string_view kNames =
#define CU_TEXEL_FORMAT(name, number, bits, kind) ", CU_AD_FORMAT_" #name
#define CU_TEXEL_FORMAT_LACKING(name, number)
#include "cupola/texel_formats.def"
#undef CU_TEXEL_FORMAT_LACKING
#undef CU_TEXEL_FORMAT
    ;
constexpr unsigned char kChannels[] = {1, 2, 4};

}  // namespace

Result<TexelFormat> texel_format(CUarray_format format, unsigned channels) {
  if (std::ranges::find(kLacking, format) != std::end(kLacking))
    return fail(ErrorCode::NotSupported, "the texel format {:#x} is not supported; give one of {}",
                static_cast<unsigned>(format), kNames.substr(2));
  const Row* const row = std::ranges::find(kRows, format, &Row::format);
  if (row == std::end(kRows))
    return fail(ErrorCode::InvalidValue, "{:#x} is not a format of texels; give one of {}",
                static_cast<unsigned>(format), kNames.substr(2));
  if (std::ranges::find(kChannels, channels) == std::end(kChannels))
    return fail(ErrorCode::InvalidValue, "a texel of {} channels; there may be 1, 2 or 4", channels);
  return TexelFormat{static_cast<unsigned char>(channels), row->bits, row->kind};
}

Result<TexelFormat> texel_format(CUresourceViewFormat view) {
  constexpr unsigned kFormats = std::size(kRows) * std::size(kChannels);
  static_assert(CU_RES_VIEW_FORMAT_UINT_1X8 == 1 && CU_RES_VIEW_FORMAT_FLOAT_4X32 == kFormats);
  const auto number = static_cast<unsigned>(view);
  if (number > kFormats && number <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7)
    return fail(
        ErrorCode::NotSupported,
        "a view of compressed texels, {:#x}, is not supported; give a format from CU_RES_VIEW_FORMAT_UINT_1X8 to "
        "CU_RES_VIEW_FORMAT_FLOAT_4X32",
        number);
  if (number == CU_RES_VIEW_FORMAT_NONE || number > kFormats)
    return fail(
        ErrorCode::InvalidValue,
        "{:#x} is not a format of a view; give one from CU_RES_VIEW_FORMAT_UINT_1X8 to CU_RES_VIEW_FORMAT_FLOAT_4X32",
        number);
  const Row& row = kRows[(number - 1) / std::size(kChannels)];
  return TexelFormat{kChannels[(number - 1) % std::size(kChannels)], row.bits, row.kind};
}

Result<std::shared_ptr<Array>> live_array(CUarray handle) {
  std::shared_ptr<Array> array = Runtime::get().arrays.find(handle);
  if (!array)
    return fail(ErrorCode::InvalidHandle, "{:#x} is no live CUDA array; make one with cuArrayCreate or cuArray3DCreate",
                reinterpret_cast<uintptr_t>(handle));
  return array;
}

Result<std::shared_ptr<MipmappedArray>> live_mipmapped_array(CUmipmappedArray handle) {
  std::shared_ptr<MipmappedArray> array = Runtime::get().mipmapped_arrays.find(handle);
  if (!array)
    return fail(ErrorCode::InvalidHandle, "{:#x} is no live mipmapped array; make one with cuMipmappedArrayCreate",
                reinterpret_cast<uintptr_t>(handle));
  return array;
}

}  // namespace cupola::driver
