#include "cupola/fatbin_scan.h"

#include <cstring>
#include <string_view>

namespace cupola::tool {
namespace {

constexpr std::string_view kMagic = "\x50\xED\x55\xBA";

/// Where the fat binary ends: its header says so. The header was read before.
uint64_t size_at(const std::byte* header) {
  uint16_t header_bytes;
  uint64_t size;
  std::memcpy(&header_bytes, header + 6, sizeof header_bytes);
  std::memcpy(&size, header + 8, sizeof size);
  return header_bytes + size;
}

}  // namespace

Result<std::vector<Fatbin>> find_fatbins(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  std::vector<Fatbin> found;
  std::string damage;
  for (size_t at = text.find(kMagic); at != text.npos;) {
    auto entries = image::read_fatbin(file.data() + at, file.size() - at);
    uint64_t step = 1;
    if (entries && !entries->empty()) {
      step = size_at(file.data() + at);
      found.push_back({at, std::move(*entries)});
    } else if (damage.empty()) {
      damage = formatted("the fat binary at {:#x} is damaged: {}", at,
                         entries ? std::string("it holds no entry") : entries.error().message);
    }
    at = text.find(kMagic, at + step);
  }
  if (!found.empty()) return found;
  if (!damage.empty()) return fail(ErrorCode::InvalidImage, "{}", damage);
  return fail(ErrorCode::InvalidImage, "it holds no fat binary, and is neither PTX nor kir");
}

}  // namespace cupola::tool
