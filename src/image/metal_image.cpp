#include "image/metal_image.h"

#include <algorithm>
#include <cstring>

// In the frame of image_frame.h: kernels, variables, version, source.

namespace cupola::image {
namespace {

constexpr size_t kKernelBytes = kLeastInfoBytes + 24;  // the least that one takes

/// A name that MSL takes, and no text that would mean something else there.
bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Result<MetalImage> read_body(wire::Reader& in) {
  MetalImage image;
  TRY(image.target, in.text("target"));
  TRY(const uint32_t kernels, in.count("kernels", kKernelBytes));
  for (uint32_t i = 0; i < kernels; ++i) {
    MetalKernel kernel;
    TRY(kernel.info, read_info(in));
    TRY(kernel.entry, in.text("entry"));
    TRY(kernel.refusal, in.text("refusal"));
    TRY(kernel.saved_bytes, in.number<uint32_t>("saved bytes"));
    TRY(const uint32_t may_fail, in.number<uint32_t>("whether it may fail"));
    if (may_fail > 1) return fail(ErrorCode::InvalidImage, "image: {} is neither yes nor no", may_fail);
    kernel.may_fail = may_fail == 1;
    image.kernels.push_back(std::move(kernel));
  }
  TRY(read_variables(in, image));
  TRY(image.msl_version, in.number<uint32_t>("MSL version"));
  TRY(image.source, in.text("source"));
  return image;
}

Result<> check(const MetalImage& image) {
  if (!image.target.starts_with(kMetalTarget))
    return fail(ErrorCode::InvalidImage, "image: it is for '{}', not for a metal device", image.target);
  for (const MetalKernel& kernel : image.kernels) {
    TRY(check_info(kernel.info));
    if (kernel.entry.empty() && !kernel.refusal.empty()) continue;
    if (!is_identifier(kernel.entry) || !kernel.refusal.empty())
      return fail(ErrorCode::InvalidImage, "image: kernel '{}' has the entry '{}', which is no name", kernel.info.name,
                  kernel.entry);
  }
  return check_variables(image, 0);
}

}  // namespace

bool is_metallib(std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic = "MTLB";
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

std::vector<std::byte> serialize(const MetalImage& image) {
  wire::Writer out;
  begin_image(out, image.target);
  out.count(image.kernels.size());
  for (const MetalKernel& kernel : image.kernels) {
    write_info(out, kernel.info);
    out.text(kernel.entry);
    out.text(kernel.refusal);
    out.number(kernel.saved_bytes);
    out.number(uint32_t{kernel.may_fail});
  }
  write_variables(out, image);
  out.number(image.msl_version);
  out.text(image.source);
  return end_image(std::move(out));
}

Result<MetalImage> deserialize_metal(std::span<const std::byte> bytes) {
  TRY(wire::Reader in, open_image(bytes));
  TRY(MetalImage image, read_body(in));
  if (in.left() != 0) return fail(ErrorCode::InvalidImage, "image: {} bytes follow the source", in.left());
  TRY(check(image));
  return image;
}

}  // namespace cupola::image
