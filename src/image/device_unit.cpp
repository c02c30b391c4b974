#include "image/device_unit.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>

#include "image/content_hash.h"

namespace cupola::image {
namespace {

/// All numbers are little-endian, as in a fat binary.
struct Header {
  char magic[8];
  uint64_t size;  ///< of header, name, fat binary and padding: a multiple of 8
  uint64_t name_size, fatbin_size;
};
constexpr char kMagic[9] = "cupunit1";

uint64_t padded(uint64_t size) {
  return (size + 7) & ~uint64_t{7};
}

bool fits(const Header& header, size_t available) {
  const uint64_t rest = header.size - sizeof header;
  return header.size >= sizeof header && header.size % 8 == 0 && header.size <= available && header.name_size <= rest &&
         header.fatbin_size <= rest - header.name_size;
}

}  // namespace

std::vector<std::byte> write_unit(const DeviceUnit& unit) {
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  header.name_size = unit.name.size();
  header.fatbin_size = unit.fatbin.size();
  header.size = padded(sizeof header + header.name_size + header.fatbin_size);
  std::vector<std::byte> bytes(header.size);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, unit.name.data(), unit.name.size());
  std::ranges::copy(unit.fatbin, bytes.begin() + static_cast<ptrdiff_t>(sizeof header + unit.name.size()));
  return bytes;
}

Result<std::vector<DeviceUnit>> read_units(std::span<const std::byte> section) {
  std::vector<DeviceUnit> units;
  while (section.size() >= sizeof(Header)) {
    Header header;
    std::memcpy(&header, section.data(), sizeof header);
    if (std::memcmp(header.magic, kMagic, sizeof header.magic) != 0) break;
    if (!fits(header, section.size()))
      return fail(ErrorCode::InvalidImage, "a device unit is cut off: {} bytes of {}", section.size(), header.size);
    const auto* name = reinterpret_cast<const char*>(section.data() + sizeof header);
    const auto fatbin = section.subspan(sizeof header + header.name_size, header.fatbin_size);
    units.push_back({std::string(name, header.name_size), {fatbin.begin(), fatbin.end()}});
    section = section.subspan(header.size);
  }
  return units;
}

std::string unit_name(const std::string& stem, std::string_view difference) {
  std::string name;
  for (const char c : stem) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name + "_" + content_hash(std::as_bytes(std::span(difference))).hex().substr(0, 16);
}

}  // namespace cupola::image
