#include "backend/metal/metallib/container.h"
#include "backend/metal/metallib/function_tags.h"
#include "backend/metal/metallib/header.h"

namespace cupola::metallib {
namespace {

Result<> write_function(ByteWriter& out, const Function& function, const FunctionPlace& place) {
  for (const FunctionTag& row : function_tags())
    if (row.required && !find_tag(function.tags, row.name))
      return fail(ErrorCode::InvalidValue, "metallib: function '{}' is to be written without {}",
                  printable(function.name), text_of(row.name));
  if (function.name.empty() || function.name.contains('\0'))
    return fail(ErrorCode::InvalidValue, "metallib: function name '{}' is empty or holds a zero byte",
                printable(function.name));
  std::vector<std::vector<std::byte>> values;
  std::vector<Tag> tags;
  for (const Tag& tag : function.tags) {
    const FunctionTag* row = function_tag(tag.name);
    if (row) {
      ByteWriter value;
      row->write(value, function, place);
      values.push_back(std::move(value).finish());
    }
    tags.push_back({tag.name, row ? Bytes(values.back()) : tag.value});
  }
  return out.group(tags, GroupSize::WithItself);
}

/// Writes the groups of metadata and notes where each begins.
Result<> write_metadata(ByteWriter& out, const Library& library, std::vector<Tag> Function::* tags,
                        uint64_t FunctionPlace::* place, std::vector<FunctionPlace>& places) {
  for (size_t i = 0; i < library.functions.size(); ++i) {
    places[i].*place = out.size();
    TRY(out.group(library.functions[i].*tags, library.metadata_size));
  }
  return {};
}

/// Writes the header extension; sections follow one another from `sections_start` on.
Result<> write_extension(ByteWriter& out, const std::vector<Extension>& extensions, uint64_t sections_start) {
  for (const Extension& extension : extensions) {
    if (!extension.is_section) {
      TRY(out.tag(extension.name, extension.contents));
      continue;
    }
    const uint64_t range[] = {sections_start, extension.contents.size()};
    TRY(out.tag(extension.name, std::as_bytes(std::span(range))));
    sections_start += extension.contents.size();
  }
  return out.tags({});
}

}  // namespace

Result<std::vector<std::byte>> write(const Library& library) {
  std::vector<FunctionPlace> places(library.functions.size());
  ByteWriter public_metadata, private_metadata;
  TRY(write_metadata(public_metadata, library, &Function::public_metadata, &FunctionPlace::public_metadata, places));
  TRY(write_metadata(private_metadata, library, &Function::private_metadata, &FunctionPlace::private_metadata, places));
  uint64_t module_bytes = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    places[i].module = module_bytes;
    places[i].module_bytes = library.functions[i].module.size();
    module_bytes += places[i].module_bytes;
  }

  ByteWriter functions, extension;
  functions.number(static_cast<uint32_t>(places.size()));
  for (size_t i = 0; i < places.size(); ++i) TRY(write_function(functions, library.functions[i], places[i]));
  // Twice: how long the header extension is does not depend on where the sections are, but where they are does on that.
  Ranges ranges;
  uint64_t sections_start = 0;
  for (int pass = 0; pass < 2 && library.extension; ++pass) {
    extension = {};
    TRY(write_extension(extension, *library.extension, sections_start));
    sections_start = kHeaderBytes + functions.size() + extension.size() + public_metadata.size() +
                     private_metadata.size() + module_bytes;
  }
  ranges.functions = {kHeaderBytes, functions.size() - sizeof(uint32_t)};
  ranges.public_metadata = {kHeaderBytes + functions.size() + extension.size(), public_metadata.size()};
  ranges.private_metadata = {ranges.public_metadata.offset + public_metadata.size(), private_metadata.size()};
  ranges.modules = {ranges.private_metadata.offset + private_metadata.size(), module_bytes};

  ByteWriter out;
  write_header(out, library.header, ranges);
  for (ByteWriter* part : {&functions, &extension, &public_metadata, &private_metadata})
    out.bytes(std::move(*part).finish());
  for (const Function& function : library.functions) out.bytes(function.module);
  if (library.extension)
    for (const Extension& each : *library.extension)
      if (each.is_section) out.bytes(each.contents);
  out.set(kFileSizeAt, out.size());
  return std::move(out).finish();
}

}  // namespace cupola::metallib
