#include "backend/metal/metallib/container.h"
#include "backend/metal/metallib/function_tags.h"
#include "backend/metal/metallib/header.h"

namespace cupola::metallib {
namespace {

/// Reads one file; its methods stand in the order of the file.
class Reader {
 public:
  explicit Reader(Bytes file) : file_(file) {}

  Result<Library> read() {
    TRY(library_.header, read_header(file_, ranges_));
    TRY(const uint64_t functions_end, read_functions());
    TRY(read_extension(functions_end));
    TRY(read_metadata(ranges_.public_metadata, "public metadata", &Function::public_metadata,
                      &FunctionPlace::public_metadata));
    TRY(read_metadata(ranges_.private_metadata, "private metadata", &Function::private_metadata,
                      &FunctionPlace::private_metadata));
    TRY(read_modules());
    TRY(check_offsets());
    return std::move(library_);
  }

 private:
  ByteReader part(Range range, std::string_view name) const {
    return ByteReader(file_, range.offset, range.offset + range.size, name);
  }

  Result<uint64_t> read_functions() {
    const Range range = {ranges_.functions.offset, ranges_.functions.size + sizeof(uint32_t)};
    ByteReader list = part(range, "function list");
    if (range.offset != kHeaderBytes)
      return list.wrong("it is at {}, not behind the header at {}", range.offset, kHeaderBytes);
    TRY(const uint32_t count, list.number<uint32_t>());
    for (uint32_t i = 0; i < count; ++i) TRY(read_function(list));
    TRY(list.expect_end());
    return range.offset + range.size;
  }

  Result<> read_function(ByteReader& list) {
    const uint64_t start = list.offset();
    Function function;
    FunctionPlace place;
    TRY(function.tags, list.group(GroupSize::WithItself));
    for (const FunctionTag& row : function_tags())
      if (row.required && !find_tag(function.tags, row.name))
        return list.wrong("the function at {} has no {}", start, text_of(row.name));
    for (Tag& tag : function.tags) {
      const FunctionTag* row = function_tag(tag.name);
      if (!row) continue;
      const uint64_t at = tag.value.data() - file_.data();
      if (row->bytes && tag.value.size() != row->bytes)
        return list.wrong("{} at {} has {} bytes, not {}", text_of(tag.name), at, tag.value.size(), row->bytes);
      ByteReader value = part({at, tag.value.size()}, list.part());
      TRY(row->read(value, function, place));
      if (!value.at_end())
        return list.wrong("{} at {} has {} bytes, but ends at {}", text_of(tag.name), at, tag.value.size(),
                          value.offset());
      tag.value = {};
    }
    library_.functions.push_back(std::move(function));
    places_.push_back(place);
    return {};
  }

  /// The header extension reaches from the function list to the public metadata; sections follow the modules in its
  /// order.
  Result<> read_extension(uint64_t start) {
    const uint64_t end = ranges_.public_metadata.offset;
    uint64_t sections_end = ranges_.modules.offset + ranges_.modules.size;
    if (end < start)
      return part({start, 0}, "header extension").wrong("the public metadata at {} are before {}", end, start);
    ByteReader reader = part({start, end - start}, "header extension");
    if (!reader.at_end()) {
      TRY(const std::vector<Tag> tags, reader.tags());
      TRY(reader.expect_end());
      library_.extension.emplace();
      for (const Tag& tag : tags) {
        TRY(const Extension extension, read_extension_tag(tag, sections_end, reader));
        library_.extension->push_back(extension);
      }
    }
    if (sections_end != file_.size())
      return reader.wrong("{} bytes at {} belong to no section", file_.size() - sections_end, sections_end);
    return {};
  }

  Result<Extension> read_extension_tag(const Tag& tag, uint64_t& sections_end, const ByteReader& reader) {
    if (!names_section(tag.name)) return Extension{tag.name, tag.value};
    if (tag.value.size() != 2 * sizeof(uint64_t))
      return reader.wrong("{} has {} bytes, not 16", text_of(tag.name), tag.value.size());
    ByteReader value = part({static_cast<uint64_t>(tag.value.data() - file_.data()), tag.value.size()}, reader.part());
    TRY(const uint64_t offset, value.number<uint64_t>());
    TRY(const uint64_t size, value.number<uint64_t>());
    if (offset != sections_end)
      return reader.wrong("{} is at {}, but what comes before it ends at {}", text_of(tag.name), offset, sections_end);
    if (size > file_.size() - offset)
      return reader.wrong("{}: {} bytes at {} leave the file of {}", text_of(tag.name), size, offset, file_.size());
    sections_end += size;
    return Extension{tag.name, file_.subspan(offset, size), true};
  }

  Result<> read_metadata(Range range, std::string_view name, std::vector<Tag> Function::* tags,
                         uint64_t FunctionPlace::* place) {
    ByteReader groups = part(range, name);
    for (size_t i = 0; i < places_.size(); ++i) {
      const uint64_t offset = groups.offset() - range.offset;
      if (places_[i].*place != offset)
        return groups.wrong("function '{}' has its own at {}, but the next is at {}",
                            printable(library_.functions[i].name), places_[i].*place, offset);
      if (i == 0 && tags == &Function::public_metadata) {
        TRY(library_.metadata_size, size_convention(groups));
      }
      TRY(library_.functions[i].*tags, groups.group(library_.metadata_size));
    }
    TRY(groups.expect_end());
    return follows(range, tags == &Function::public_metadata ? ranges_.private_metadata : ranges_.modules, name);
  }

  /// What the size of the next group counts, told by where its ENDT is.
  static Result<GroupSize> size_convention(ByteReader groups) {
    TRY(const uint32_t size, groups.number<uint32_t>());
    const uint64_t start = groups.offset();
    TRY(groups.tags());
    return groups.offset() - start == size ? GroupSize::WithoutItself : GroupSize::WithItself;
  }

  Result<> follows(Range range, Range next, std::string_view name) {
    if (range.offset + range.size != next.offset)
      return part(range, name)
          .wrong("it ends at {}, but what follows begins at {}", range.offset + range.size, next.offset);
    return {};
  }

  Result<> read_modules() {
    ByteReader modules = part(ranges_.modules, "modules");
    for (size_t i = 0; i < places_.size(); ++i) {
      Function& function = library_.functions[i];
      const uint64_t offset = modules.offset() - ranges_.modules.offset;
      if (places_[i].module != offset)
        return modules.wrong("function '{}' has its own at {}, but the next is at {}", printable(function.name),
                             places_[i].module, offset);
      TRY(function.module, modules.take(places_[i].module_bytes));
    }
    return modules.expect_end();
  }

  /// SOFF and RFLT lead to something.
  Result<> check_offsets() {
    std::vector<uint64_t> archives, buffers;
    TRY(const std::optional<Sources> sources, metallib::sources(library_));
    if (sources)
      for (const Sources::Archive& archive : sources->archives) archives.push_back(archive.offset);
    TRY(const std::vector<Reflection> entries, reflections(library_));
    for (const Reflection& entry : entries) buffers.push_back(entry.offset);
    TRY(library_name(library_));
    const ByteReader list = part(ranges_.functions, "function list");
    for (const Function& function : library_.functions) {
      if (function.source && !std::ranges::binary_search(archives, *function.source))
        return list.wrong("function '{}': SOFF is {}, where no source archive is", printable(function.name),
                          *function.source);
      if (function.reflection && !std::ranges::binary_search(buffers, *function.reflection))
        return list.wrong("function '{}': RFLT is {}, where no reflection is", printable(function.name),
                          *function.reflection);
    }
    return {};
  }

  const Bytes file_;
  Ranges ranges_;
  Library library_;
  std::vector<FunctionPlace> places_;
};

}  // namespace

bool is_metallib(Bytes bytes) {
  return bytes.size() >= kHeaderBytes && std::memcmp(bytes.data(), kMagic.text, sizeof kMagic.text) == 0;
}

Result<uint64_t> stated_size(Bytes beginning) {
  ByteReader reader(beginning, 0, beginning.size(), "header");
  TRY(const TagName magic, reader.number<TagName>());
  if (magic != kMagic) return reader.wrong("it begins with '{}', not with 'MTLB'", text_of(magic));
  TRY(reader.take(kFileSizeAt - sizeof magic));
  return reader.number<uint64_t>();
}

Result<Library> read(Bytes bytes) {
  return Reader(bytes).read();
}

}  // namespace cupola::metallib
