#include "image/expression_frame.h"

#include <cstring>

#include "image/wire.h"

namespace cupola::image {

std::vector<std::byte> frame_expression(std::span<const std::byte> contents) {
  wire::Writer out;
  for (const char character : kExpressionMagic) out.number(static_cast<uint8_t>(character));
  out.number<uint64_t>(kExpressionHeader + contents.size());
  std::vector<std::byte> bytes = out.take();
  bytes.insert(bytes.end(), contents.begin(), contents.end());
  return bytes;
}

Result<std::span<const std::byte>> expression_at(const std::byte* bytes, size_t limit) {
  if (limit < kExpressionHeader || std::memcmp(bytes, kExpressionMagic.data(), kExpressionMagic.size()) != 0)
    return fail(ErrorCode::InvalidImage, "expression: no header where one should be");
  wire::Reader header({bytes + kExpressionMagic.size(), sizeof(uint64_t)});
  TRY(const uint64_t size, header.number<uint64_t>("length"));
  if (size < kExpressionHeader || size > kMostExpressionBytes || size > limit)
    return fail(ErrorCode::InvalidImage, "expression: its header says {} bytes", size);
  return std::span(bytes, size);
}

Result<std::span<const std::byte>> expression_contents(std::span<const std::byte> bytes) {
  TRY(const std::span<const std::byte> whole, expression_at(bytes.data(), bytes.size()));
  if (whole.size() != bytes.size())
    return fail(ErrorCode::InvalidImage, "expression: {} bytes follow it", bytes.size() - whole.size());
  return whole.subspan(kExpressionHeader);
}

}  // namespace cupola::image
