#include "backend/metal/metallib/header.h"

#include <utility>

namespace cupola::metallib {
namespace {

constexpr uint16_t kMacosBit = 0x8000;
constexpr uint8_t kStubBit = 0x80, k64Bit = 0x80;

Result<Range> read_range(ByteReader& reader, Bytes file, std::string_view part, uint64_t more = 0) {
  TRY(const uint64_t offset, reader.number<uint64_t>());
  TRY(const uint64_t size, reader.number<uint64_t>());
  if (offset > file.size() || more > file.size() - offset || size > file.size() - offset - more)
    return reader.wrong("{}: {} bytes at {} leave the file of {}", part, size, offset, file.size());
  return Range{offset, size};
}

}  // namespace

bool names_section(TagName name) {
  return std::ranges::find(kSectionTags, name) != std::end(kSectionTags);
}

Result<Header> read_header(Bytes file, Ranges& ranges) {
  ByteReader reader(file, 0, std::min<uint64_t>(file.size(), kHeaderBytes), "header");
  TRY(const TagName magic, reader.number<TagName>());
  if (magic != kMagic) return reader.wrong("it begins with '{}', not with 'MTLB'", text_of(magic));
  Header header;
  TRY(const uint16_t major, reader.number<uint16_t>());
  header.for_macos = major & kMacosBit;
  header.version.major = major & static_cast<uint16_t>(~kMacosBit);
  TRY(header.version.minor, reader.number<uint16_t>());
  TRY(header.version.patch, reader.number<uint16_t>());
  if (header.version.major != 1)
    return reader.wrong("container version {}; this build reads 1.x", text_of(header.version));
  TRY(const uint8_t type, reader.number<uint8_t>());
  header.stub = type & kStubBit;
  header.type = static_cast<FileType>(type & ~kStubBit);
  TRY(const uint8_t platform, reader.number<uint8_t>());
  header.is_64bit = platform & k64Bit;
  header.platform = static_cast<Platform>(platform & ~k64Bit);
  TRY(header.os.major, reader.number<uint16_t>());
  TRY(header.os.minor, reader.number<uint8_t>());
  TRY(header.os.patch, reader.number<uint8_t>());
  TRY(ranges.file_size, reader.number<uint64_t>());
  if (ranges.file_size != file.size())
    return reader.wrong("it says that the file has {} bytes; it has {}", ranges.file_size, file.size());
  TRY(ranges.functions, read_range(reader, file, "function list", sizeof(uint32_t)));
  TRY(ranges.public_metadata, read_range(reader, file, "public metadata"));
  TRY(ranges.private_metadata, read_range(reader, file, "private metadata"));
  TRY(ranges.modules, read_range(reader, file, "modules"));
  return header;
}

void write_header(ByteWriter& out, const Header& header, const Ranges& ranges) {
  out.number(kMagic);
  out.number(static_cast<uint16_t>(header.version.major | (header.for_macos ? kMacosBit : 0)));
  out.number(header.version.minor);
  out.number(header.version.patch);
  out.number(static_cast<uint8_t>(std::to_underlying(header.type) | (header.stub ? kStubBit : 0)));
  out.number(static_cast<uint8_t>(std::to_underlying(header.platform) | (header.is_64bit ? k64Bit : 0)));
  out.number(header.os.major);
  out.number(header.os.minor);
  out.number(header.os.patch);
  out.number(ranges.file_size);
  for (const Range& range : {ranges.functions, ranges.public_metadata, ranges.private_metadata, ranges.modules}) {
    out.number(range.offset);
    out.number(range.size);
  }
}

}  // namespace cupola::metallib
