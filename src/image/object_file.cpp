#include "image/object_file.h"

#include <charconv>
#include <cstdint>
#include <cstring>

namespace cupola::image {
namespace {

// The fields of ELF64 that are read, at their offsets.
constexpr size_t kSectionTable = 0x28, kSectionCount = 0x3C, kNameSection = 0x3E, kHeaderSize = 0x40;
constexpr size_t kName = 0, kType = 4, kOffset = 0x18, kSize = 0x20, kSectionHeaderSize = 0x40;
constexpr uint32_t kNoBits = 8;

/// 0 where the bytes end before.
template <typename Number>
Number number_at(std::string_view bytes, uint64_t offset) {
  Number number = 0;
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof number)
    std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.substr(offset, size);
}

std::string_view text_at(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  table.remove_prefix(offset);
  return table.substr(0, table.find('\0'));
}

constexpr std::string_view kArchive = "!<arch>\n", kThinArchive = "!<thin>\n";
constexpr size_t kMemberHeader = 60, kMemberNameSize = 16, kMemberSizeOffset = 48, kMemberSizeDigits = 10;

uint64_t decimal(std::string_view digits) {
  uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string_view trimmed(std::string_view text) {
  const size_t end = text.find_last_not_of(' ');
  return end == text.npos ? std::string_view() : text.substr(0, end + 1);
}

}  // namespace

std::string_view section_of(std::string_view object, std::string_view name) {
  constexpr std::string_view kElf64LittleEndian =
      "\x7F"
      "ELF\x02\x01";
  if (!object.starts_with(kElf64LittleEndian) || object.size() < kHeaderSize) return {};
  const auto table = number_at<uint64_t>(object, kSectionTable);
  uint64_t count = number_at<uint16_t>(object, kSectionCount), names = number_at<uint16_t>(object, kNameSection);
  auto header = [&](uint64_t index) { return part(object, table + index * kSectionHeaderSize, kSectionHeaderSize); };
  if (count == 0) count = number_at<uint64_t>(header(0), kSize);  // more sections than 16 bits can say
  if (names == 0xFFFF) names = number_at<uint32_t>(header(0), 0x28);
  auto contents = [&](std::string_view section) {
    return part(object, number_at<uint64_t>(section, kOffset), number_at<uint64_t>(section, kSize));
  };
  const std::string_view strings = contents(header(names));
  for (uint64_t i = 1; i < count; ++i) {
    const std::string_view section = header(i);
    if (section.empty()) break;
    if (number_at<uint32_t>(section, kType) == kNoBits) continue;
    if (text_at(strings, number_at<uint32_t>(section, kName)) == name) return contents(section);
  }
  return {};
}

bool is_archive(std::string_view bytes) {
  return bytes.starts_with(kArchive) || bytes.starts_with(kThinArchive);
}

Result<std::vector<ArchiveMember>> members_of(std::string_view archive) {
  const bool thin = archive.starts_with(kThinArchive);
  std::vector<ArchiveMember> members;
  std::string_view long_names;
  for (uint64_t at = kArchive.size(); at < archive.size();) {
    const std::string_view header = part(archive, at, kMemberHeader);
    if (header.empty()) return fail(ErrorCode::InvalidImage, "the archive is cut off at byte {}", at);
    at += kMemberHeader;
    std::string name(trimmed(header.substr(0, kMemberNameSize)));
    const uint64_t size = decimal(header.substr(kMemberSizeOffset, kMemberSizeDigits));
    const bool table = name == "/" || name == "//" || name == "/SYM64/";
    const bool elsewhere = thin && !table;
    std::string_view bytes = elsewhere ? std::string_view() : part(archive, at, size);
    if (bytes.size() != size && !elsewhere)
      return fail(ErrorCode::InvalidImage, "the archive's member at byte {} is cut off", at);
    if (!elsewhere) at += size + size % 2;
    if (name == "//") long_names = bytes;
    if (table) continue;
    if (name.starts_with("#1/")) {  // BSD's: the name comes before the contents
      const std::string_view text = part(bytes, 0, decimal(std::string_view(name).substr(3)));
      bytes.remove_prefix(text.size());
      name = text_at(text, 0);
    } else if (name.starts_with("/")) {
      const std::string_view text = text_at(long_names, decimal(std::string_view(name).substr(1)));
      name = text.substr(0, text.find('\n'));
    }
    if (name.ends_with('/')) name.pop_back();
    if (name == "__.SYMDEF" || name == "__.SYMDEF SORTED") continue;
    members.push_back({name, bytes});
  }
  return members;
}

}  // namespace cupola::image
