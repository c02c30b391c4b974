#include "image/lto_code.h"

#include <algorithm>
#include <string_view>

namespace cupola::image {
namespace {

constexpr std::string_view kMagic = "\xED\x43\x4E\x7F", kMaker = "cupo";

bool begins(std::span<const std::byte> code, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return code.size() >= bytes.size() && std::ranges::equal(code.first(bytes.size()), bytes);
}

}  // namespace

std::vector<std::byte> write_lto(std::span<const std::byte> kir) {
  std::vector<std::byte> code;
  for (const std::string_view text : {kMagic, kMaker}) {
    const auto bytes = std::as_bytes(std::span(text));
    code.insert(code.end(), bytes.begin(), bytes.end());
  }
  code.insert(code.end(), kir.begin(), kir.end());
  return code;
}

bool is_lto(std::span<const std::byte> code) {
  return begins(code, kMagic);
}

Result<std::span<const std::byte>> read_lto(std::span<const std::byte> code) {
  if (begins(code, kMagic) && begins(code.subspan(kMagic.size()), kMaker))
    return code.subspan(kMagic.size() + kMaker.size());
  return fail(ErrorCode::NoBinaryForGpu,
              "this is code for link-time optimisation that NVIDIA's compiler made: compile the source with cupolac or "
              "Cupola's libnvrtc, or give PTX");
}

}  // namespace cupola::image
