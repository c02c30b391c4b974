#include "image/image_frame.h"

#include "image/content_hash.h"

namespace cupola::image {
namespace {

constexpr uint64_t kMagic = 0x6567616d69707563;  // "cupimage"
constexpr size_t kFrontBytes = 12, kHashBytes = 16;

}  // namespace

void begin_image(wire::Writer& out, std::string_view target) {
  out.number(kMagic);
  out.number(kFormatVersion);
  out.text(target);
}

std::vector<std::byte> end_image(wire::Writer out) {
  const Hash128 hash = content_hash(out.written());
  out.number(hash.low);
  out.number(hash.high);
  return out.take();
}

Result<wire::Reader> open_image(std::span<const std::byte> bytes) {
  wire::Reader head(bytes);
  TRY(uint64_t magic, head.number<uint64_t>("magic"));
  if (magic != kMagic) return fail(ErrorCode::InvalidImage, "image: magic is {:#x}; this is no kernel image", magic);
  TRY(uint32_t version, head.number<uint32_t>("version"));
  if (version != kFormatVersion)
    return fail(ErrorCode::InvalidImage, "image: format version {}; this build reads {}", version, kFormatVersion);
  if (head.left() < kHashBytes) return fail(ErrorCode::InvalidImage, "image: {} bytes are too few", bytes.size());

  const size_t hashed = bytes.size() - kHashBytes;
  wire::Reader tail(bytes.subspan(hashed));
  Hash128 stored;
  TRY(stored.low, tail.number<uint64_t>("hash"));
  TRY(stored.high, tail.number<uint64_t>("hash"));
  if (stored != content_hash(bytes.first(hashed)))
    return fail(ErrorCode::InvalidImage, "image: the hash does not match; the {} bytes were damaged or cut",
                bytes.size());

  return wire::Reader(bytes.subspan(kFrontBytes, hashed - kFrontBytes));
}

std::optional<std::string> target_of(std::span<const std::byte> bytes) {
  wire::Reader in(bytes);
  const auto magic = in.number<uint64_t>("magic");
  if (!magic || *magic != kMagic) return std::nullopt;
  const auto version = in.number<uint32_t>("version");
  if (!version || *version != kFormatVersion) return std::nullopt;
  auto target = in.text("target");
  if (!target) return std::nullopt;
  return std::move(*target);
}

}  // namespace cupola::image
