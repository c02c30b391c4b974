#include "cupolac/link_units.h"

#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/format.h"
#include "cupolac/compiler_library.h"
#include "cupolac/installation.h"
#include "cupolac/lists.h"
#include "cupolac/pack.h"
#include "image/device_unit.h"
#include "image/fatbin.h"
#include "image/object_file.h"

namespace cupola::cupolac {
namespace {

namespace fs = std::filesystem;

/// The sections of clang's offloading: what is embedded, and the names of the kernels and variables that the host
/// refers to, each ending in a zero byte.
constexpr std::string_view kUnitSection = ".llvm.offloading", kNameSection = ".llvm.rodata.offloading";
/// Of what a device link made: the units in it, each name ending in a zero byte.
constexpr std::string_view kLinkedSection = ".cupola_linked";

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Adds the texts of a section, each of which ends in a zero byte.
void split_texts(std::string_view section, std::set<std::string>& texts) {
  while (!section.empty()) {
    const std::string_view one = section.substr(0, section.find('\0'));
    if (!one.empty()) texts.emplace(one);
    section.remove_prefix(std::min(one.size() + 1, section.size()));
  }
}

/// Collects units and names from files.
class Gathering {
 public:
  std::vector<std::string> units;     ///< names of what `code` holds, fat binaries by themselves aside
  std::set<std::string> host_names;   ///< kernels and variables with a host side
  std::vector<image::CodeUnit> code;  ///< in the order of the command line

  Result<> add_file(const fs::path& path) {
    if (std::error_code error; !seen_.insert(fs::weakly_canonical(path, error).string()).second) return {};
    TRY(const std::string bytes, read_file(path));
    if (image::is_archive(bytes)) return add_archive(path, bytes);
    return add_object(path.string(), bytes);
  }

  /// When all files are there: takes the code of units that no earlier device link in the inputs has linked.
  Result<> finish() {
    for (const Found& one : found_) {
      if (linked_.contains(one.unit.name)) continue;
      TRY(add_fatbin(one.origin, one.unit.fatbin));
      units.push_back(one.unit.name);
      split_texts(one.names, host_names);
    }
    return {};
  }

  /// A fat binary or PTX text by itself.
  Result<> add_device_code(const fs::path& path) {
    TRY(const std::string bytes, read_file(path));
    if (path.extension() == ".ptx") {
      code.push_back({image::CodeKind::Ptx, {bytes_of(bytes).begin(), bytes_of(bytes).end()}});
      return {};
    }
    return add_fatbin(path.string(), bytes_of(bytes));
  }

 private:
  Result<> add_archive(const fs::path& path, std::string_view bytes) {
    auto members = image::members_of(bytes);
    if (!members) return fail(members.error().code, "'{}': {}", path.string(), members.error().message);
    for (const image::ArchiveMember& member : *members) {
      if (member.bytes.empty()) {
        const fs::path file = path.parent_path() / member.name;
        if (std::error_code error; fs::exists(file, error)) TRY(add_file(file));
        continue;
      }
      TRY(add_object(formatted("{}({})", path.string(), member.name), member.bytes));
    }
    return {};
  }

  Result<> add_object(const std::string& name, std::string_view bytes) {
    auto found = image::read_units(bytes_of(image::section_of(bytes, kUnitSection)));
    if (!found) return fail(found.error().code, "'{}': {}", name, found.error().message);
    split_texts(image::section_of(bytes, kLinkedSection), linked_);
    const std::string names(image::section_of(bytes, kNameSection));
    for (image::DeviceUnit& unit : *found)
      if (known_.insert(unit.name).second) found_.push_back({name, names, std::move(unit)});
    return {};
  }

  /// Of a fat binary its kir, or else its PTX.
  Result<> add_fatbin(const std::string& name, std::span<const std::byte> fatbin) {
    auto entries = image::read_fatbin(fatbin.data(), fatbin.size());
    if (!entries) return fail(entries.error().code, "'{}': {}", name, entries.error().message);
    for (const auto& [kind, as] : {std::pair(image::FatbinKind::Kir, image::CodeKind::Kir),
                                   std::pair(image::FatbinKind::Ptx, image::CodeKind::Ptx)}) {
      const auto entry = std::ranges::find(*entries, kind, &image::FatbinEntry::kind);
      if (entry == entries->end()) continue;
      TRY(std::vector<std::byte> bytes, image::contents(*entry));
      code.push_back({as, std::move(bytes)});
      return {};
    }
    return fail(ErrorCode::NoBinaryForGpu, "'{}' holds device code for NVIDIA GPUs only: no kir and no PTX", name);
  }

  struct Found {
    std::string origin, names;
    image::DeviceUnit unit;
  };
  std::vector<Found> found_;
  std::set<std::string> seen_, known_, linked_;  ///< files; units; units that are linked already
};

/// The static library that -lNAME means, or nothing: a linker prefers a shared one of the same folder.
fs::path find_static_library(const std::string& name, const std::vector<std::string>& folders) {
  std::error_code error;
  for (const fs::path folder : folders) {
    if (fs::exists(folder / ("lib" + name + ".so"), error)) return {};
    if (fs::path path = folder / ("lib" + name + ".a"); fs::exists(path, error)) return path;
  }
  return {};
}

Result<Gathering> gather(const Options& options) {
  Gathering found;
  for (const LinkWord& word : options.link_line) {
    if (word.kind == LinkWord::Kind::Library)
      if (const fs::path path = find_static_library(word.text, options.library_paths); !path.empty())
        TRY(found.add_file(path));
    if (word.kind != LinkWord::Kind::Input) continue;
    TRY(const FileKind kind, kind_of_file(word.text, ""));
    const bool shared = kind == FileKind::Library && fs::path(word.text).extension() != ".a";
    if (kind == FileKind::DeviceCode)
      TRY(found.add_device_code(word.text));
    else if (!shared)
      TRY(found.add_file(word.text));
  }
  TRY(found.finish());
  return found;
}

constexpr std::string_view kSourceBegin = R"(/* Made by cupolac: linked device code, and what registers it. */
struct Entry { /* clang's, one for each kernel and variable that has a host side */
  unsigned long long reserved;
  unsigned short version, kind;
  unsigned int flags;
  void *address;
  const char *name;
  unsigned long long size, data;
  void *auxiliary;
};
static struct Entry none[0] __attribute__((section("llvm_offload_entries"), used, aligned(8)));
extern struct Entry __start_llvm_offload_entries[] __attribute__((visibility("hidden")));
extern struct Entry __stop_llvm_offload_entries[] __attribute__((visibility("hidden")));
extern void **__cudaRegisterFatBinary(const void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern void __cudaRegisterFunction(void **, void *, const char *, const char *, int, void *, void *, void *, void *,
                                   int *);
extern void __cudaRegisterVar(void **, void *, const char *, const char *, int, unsigned long, int, int);
)";

constexpr std::string_view kSourceEnd = R"(
static const struct {
  unsigned magic, version;
  const void *image, *units;
} wrapper __attribute__((section(".nvFatBinSegment"), aligned(8), used)) = {0x466243B1, 1, image, 0};

static int equal(const char *a, const char *b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}
static int linked_here(const char *name) {
  for (const char *const *one = names; *one; ++one)
    if (equal(*one, name)) return 1;
  return 0;
}

static void **handle;
__attribute__((constructor(101))) static void register_device_code(void) {
  handle = __cudaRegisterFatBinary(&wrapper);
  for (struct Entry *e = __start_llvm_offload_entries; e != __stop_llvm_offload_entries; ++e) {
    if (e->kind != 2 || !linked_here(e->name)) continue; /* 2: CUDA */
    if (e->size == 0)
      __cudaRegisterFunction(handle, e->address, e->name, e->name, -1, 0, 0, 0, 0, 0);
    else
      __cudaRegisterVar(handle, e->address, e->name, e->name, e->flags >> 3 & 1, e->size, e->flags >> 4 & 1, 0);
  }
  __cudaRegisterFatBinaryEnd(handle);
}
__attribute__((destructor(101))) static void unregister_device_code(void) { __cudaUnregisterFatBinary(handle); }
)";

std::string c_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// Objects refer to the symbol of their unit, so that a program whose device code was not linked fails to link.
Result<std::string> registration_source(const Gathering& found, const fs::path& fatbin) {
  std::error_code error;
  const fs::path whole = fs::absolute(fatbin, error);
  if (error)
    return fail(ErrorCode::FileNotFound, "the folder of '{}' is not known: {}", fatbin.string(), error.message());
  std::string text(kSourceBegin);
  text += formatted(
      "static const unsigned char image[] __attribute__((section(\".nv_fatbin\"), aligned(16), used)) = {{\n#embed "
      "{}\n}};\n",
      c_string(whole.string()));
  text += "static const char *const names[] = {\n";
  for (const std::string& name : found.host_names) text += "  " + c_string(name) + ",\n";
  text += "  0};\n";
  text += formatted("static const char linked[] __attribute__((section(\"{}\"), used)) =", kLinkedSection);
  for (const std::string& name : found.units) text += formatted("\n  \"{}\\0\"", name);
  text += "\n  \"\";\n";
  for (const std::string& name : found.units)
    text += formatted("__attribute__((visibility(\"hidden\"))) const char cupolac_dlink_needed_by_{} = 1;\n", name);
  return text + std::string(kSourceEnd);
}

}  // namespace

Result<> link_units(const Options& options) {
  TRY(const Gathering found, gather(options));
  if (found.code.empty() && !options.output.empty())
    return write_file(options.output, bytes_of("/* no device code to link */\n"));
  if (found.code.empty()) return fail(ErrorCode::InvalidValue, "the inputs hold no relocatable device code (-dc)");
  auto linked = compile(library_folder(), {.target = "linked", .units = found.code});
  if (!linked) return fail(linked.error().code, "device link: {}", linked.error().message);
  TRY(write_fatbin(options, bytes_of(*linked), options.unit));
  if (options.output.empty()) return {};
  TRY(const std::string source, registration_source(found, options.unit));
  return write_file(options.output, bytes_of(source));
}

}  // namespace cupola::cupolac
