#include "backend/metal/metallib/container.h"

// What stands in sections and metadata.

namespace cupola::metallib {
namespace {

ByteReader reader_of(Bytes contents, std::string_view part) {
  return ByteReader(contents, 0, contents.size(), part);
}

}  // namespace

bool is_hash_right(const Function& function) {
  return function.hash == sha256(function.module);
}

const Extension* find_extension(const Library& library, TagName name) {
  if (!library.extension) return nullptr;
  const auto found = std::ranges::find(*library.extension, name, &Extension::name);
  return found == library.extension->end() ? nullptr : &*found;
}

const Tag* find_tag(std::span<const Tag> tags, TagName name) {
  const auto found = std::ranges::find(tags, name, &Tag::name);
  return found == tags.end() ? nullptr : &*found;
}

Result<std::vector<Reflection>> reflections(const Library& library) {
  std::vector<Reflection> found;
  const Extension* section = find_extension(library, "RLST");
  if (!section) return found;
  ByteReader reader = reader_of(section->contents, "RLST, from its start");
  TRY(const uint32_t count, reader.number<uint32_t>());
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = reader.offset();
    TRY(const std::vector<Tag> tags, reader.group(GroupSize::WithItself));
    const Tag* buffer = find_tag(tags, "RBUF");
    if (!buffer) return reader.wrong("the entry at {} has no RBUF", offset);
    found.push_back({offset, buffer->value});
  }
  TRY(reader.expect_end());
  return found;
}

Result<std::optional<Sources>> sources(const Library& library) {
  const Extension* section = find_extension(library, "HSRD");
  const bool has_directory = section;
  if (const Extension* plain = find_extension(library, "HSRC")) {
    if (section)
      return fail(ErrorCode::InvalidImage,
                  "metallib: header extension: it has both HSRC and HSRD, where one is expected");
    section = plain;
  }
  if (!section) return std::nullopt;
  ByteReader reader = reader_of(section->contents, has_directory ? "HSRD, from its start" : "HSRC, from its start");
  Sources sources;
  TRY(const uint32_t count, reader.number<uint32_t>());
  TRY(sources.options, reader.text());
  if (has_directory) {
    TRY(sources.directory, reader.text());
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = reader.offset() + sizeof(uint32_t);
    TRY(const std::vector<Tag> tags, reader.group(GroupSize::WithoutItself));
    const Tag* archive = find_tag(tags, "SARC");
    if (!archive) return reader.wrong("the entry at {} has no SARC", offset);
    ByteReader value = reader_of(archive->value, "SARC, from its start");
    TRY(std::string id, value.text());
    sources.archives.push_back({offset, std::move(id), archive->value.subspan(value.offset())});
  }
  TRY(reader.expect_end());
  return sources;
}

Result<std::optional<std::string>> library_name(const Library& library) {
  const Extension* section = find_extension(library, "HDYN");
  if (!section) return std::nullopt;
  ByteReader reader = reader_of(section->contents, "HDYN, from its start");
  TRY(const std::vector<Tag> tags, reader.tags());
  TRY(reader.expect_end());
  const Tag* name = find_tag(tags, "NAME");
  if (!name) return std::nullopt;
  ByteReader value = reader_of(name->value, "HDYN's name");
  TRY(std::string text, value.text());
  TRY(value.expect_end());
  return text;
}

Result<std::vector<FunctionConstant>> function_constants(const Function& function) {
  std::vector<FunctionConstant> constants;
  const Tag* tag = find_tag(function.public_metadata, "CNST");
  if (!tag) return constants;
  ByteReader reader = reader_of(tag->value, "CNST, from its start");
  TRY(const uint16_t count, reader.number<uint16_t>());
  for (uint16_t i = 0; i < count; ++i) {
    FunctionConstant constant;
    TRY(constant.name, reader.text());
    TRY(constant.type, reader.number<uint8_t>());
    TRY(constant.index, reader.number<uint16_t>());
    TRY(const uint8_t active, reader.number<uint8_t>());
    constant.active = active;
    constants.push_back(std::move(constant));
  }
  TRY(reader.expect_end());
  return constants;
}

Result<std::optional<DebugLine>> debug_line(const Function& function) {
  const Tag* tag = find_tag(function.private_metadata, "DEBI");
  if (!tag) return std::nullopt;
  ByteReader reader = reader_of(tag->value, "DEBI, from its start");
  DebugLine line;
  TRY(line.line, reader.number<uint32_t>());
  TRY(line.path, reader.text());
  TRY(reader.expect_end());
  return line;
}

}  // namespace cupola::metallib
