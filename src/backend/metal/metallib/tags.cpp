#include "backend/metal/metallib/tags.h"

#include <limits>

namespace cupola::metallib {
namespace {

constexpr TagName kEnd = "ENDT";

/// Their lengths have four bytes instead of two.
constexpr TagName kWide[] = {"RBUF", "SBUF", "SARC"};

bool is_wide(TagName name) {
  return std::ranges::find(kWide, name) != std::end(kWide);
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string text;
  for (const char c : bytes)
    text += c >= ' ' && c <= '~' ? std::string(1, c) : formatted("\\x{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string text_of(TagName name) {
  return printable({name.text, sizeof name.text});
}

Result<Bytes> ByteReader::take(uint64_t count) {
  if (count > end_ - at_) return wrong("{} bytes are wanted at {}, but it ends at {}", count, at_, end_);
  const Bytes bytes = file_.subspan(at_, count);
  at_ += count;
  return bytes;
}

Result<std::string> ByteReader::text() {
  const Bytes left = file_.subspan(at_, end_ - at_);
  const auto zero = std::ranges::find(left, std::byte{0});
  if (zero == left.end()) return wrong("the string at {} has no end before {}", at_, end_);
  const size_t length = zero - left.begin();
  at_ += length + 1;
  return std::string(reinterpret_cast<const char*>(left.data()), length);
}

Result<std::vector<Tag>> ByteReader::tags() {
  std::vector<Tag> found;
  while (true) {
    TRY(const TagName name, number<TagName>());
    if (name == kEnd) break;
    uint32_t length = 0;
    if (is_wide(name)) {
      TRY(length, number<uint32_t>());
    } else {
      TRY(length, number<uint16_t>());
    }
    TRY(const Bytes value, take(length));
    found.push_back({name, value});
  }
  std::vector<TagName> names;
  for (const Tag& tag : found) names.push_back(tag.name);
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
    return wrong("the tag {} is there twice before {}", text_of(*twice), at_);
  return found;
}

Result<std::vector<Tag>> ByteReader::group(GroupSize counts) {
  const uint64_t start = at_;
  TRY(const uint32_t size, number<uint32_t>());
  const uint64_t from = counts == GroupSize::WithItself ? start : at_;
  if (size > end_ - from) return wrong("the group at {} has {} bytes, but it ends at {}", start, size, end_);
  if (from + size < at_) return wrong("the group at {} has {} bytes, too few for its size", start, size);
  ByteReader inside(file_, at_, from + size, part_);
  TRY(std::vector<Tag> found, inside.tags());
  if (!inside.at_end())
    return wrong("the group at {} has {} bytes, but its ENDT ends at {}", start, size, inside.offset());
  at_ = inside.offset();
  return found;
}

Result<> ByteReader::expect_end() const {
  if (!at_end()) return wrong("it ends at {}, but its contents at {}", end_, at_);
  return {};
}

void ByteWriter::text(std::string_view value) {
  bytes(std::as_bytes(std::span(value)));
  number(uint8_t{0});
}

Result<> ByteWriter::tag(TagName name, Bytes value) {
  const uint64_t most = is_wide(name) ? std::numeric_limits<uint32_t>::max() : std::numeric_limits<uint16_t>::max();
  if (value.size() > most)
    return fail(ErrorCode::InvalidValue, "metallib: the tag {} has {} bytes; it can hold {}", text_of(name),
                value.size(), most);
  number(name);
  if (is_wide(name))
    number(static_cast<uint32_t>(value.size()));
  else
    number(static_cast<uint16_t>(value.size()));
  bytes(value);
  return {};
}

Result<> ByteWriter::tags(std::span<const Tag> tags) {
  for (const Tag& each : tags) TRY(tag(each.name, each.value));
  number(kEnd);
  return {};
}

Result<> ByteWriter::group(std::span<const Tag> all, GroupSize counts) {
  const uint64_t start = size();
  number(uint32_t{0});
  const uint64_t from = counts == GroupSize::WithItself ? start : size();
  TRY(tags(all));
  set(start, static_cast<uint32_t>(size() - from));
  return {};
}

}  // namespace cupola::metallib
