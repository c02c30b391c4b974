#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/metal/metallib/sha256.h"
#include "backend/metal/metallib/tags.h"
#include "backend/metal/metallib/versions.h"

// Apple's container of compiled kernels, .metallib: a header, a list of functions, a header extension, then for each
// function public metadata, private metadata and a module of AIR (LLVM bitcode), then the sections that the header
// extension names. docs/metallib.md has the layout and where the facts come from.
//
// `read` takes exactly what `write` makes: parts stand in this order and without gaps, one module and one group of
// metadata of each kind a function. That is how every file of Apple's that we have seen is laid out, and so what is
// read and written again has the same bytes; all else is an error.

namespace cupola::metallib {

enum class FileType : uint8_t { Executable = 0, CoreImage = 1, Dynamic = 2, SymbolCompanion = 3 };

/// The numbers are those of Mach-O's platforms.
enum class Platform : uint8_t { Unknown = 0, MacOs = 1, Ios = 2 };

enum class FunctionKind : uint8_t {
  Vertex = 0,
  Fragment = 1,
  Kernel = 2,
  Unqualified = 3,
  Visible = 4,
  Extern = 5,
  Intersection = 6
};

struct OsVersion {
  uint16_t major = 0;
  uint8_t minor = 0, patch = 0;
  friend auto operator<=>(const OsVersion&, const OsVersion&) = default;
};

struct Header {
  bool for_macos = true;
  ContainerVersion version;
  FileType type = FileType::Executable;
  bool stub = false;
  // Containers before 1.2.6 say nothing of these: all are zero.
  Platform platform = Platform::Unknown;
  bool is_64bit = false;
  OsVersion os;
};

struct Function {
  std::string name;
  FunctionKind kind = FunctionKind::Kernel;
  Sha256 hash = {};  ///< what the file says; is_hash_right compares it with the module
  Version air, language;
  Bytes module;
  std::vector<Tag> public_metadata, private_metadata;
  std::optional<uint64_t> source;      ///< SOFF: where its SourceArchive is in HSRC or HSRD
  std::optional<uint64_t> reflection;  ///< RFLT: where its Reflection is in RLST
  /// The tags in their order. The members above are the values of those that they are named for; the value that stands
  /// here counts for other tags only.
  std::vector<Tag> tags;
};

bool is_hash_right(const Function& function);

/// A tag of the header extension. The contents are those of the section if it names one (HSRC, HSRD, HDYN, VLST, ILST,
/// RLST, SLST), else the tag's value.
struct Extension {
  TagName name;
  Bytes contents;
  bool is_section = false;
};

/// A container. The spans point into what it was read from, or what its maker gave.
struct Library {
  Header header;
  std::vector<Function> functions;
  std::optional<std::vector<Extension>> extension;  ///< none in containers before 1.2.3
  /// Apple's two linkers differ here.
  GroupSize metadata_size = GroupSize::WithItself;
};

/// True for what begins as a container does. What cuModuleLoadData asks.
bool is_metallib(Bytes bytes);

/// The size that a container says it has, for one of which only the address is known: needs its first 24 bytes.
Result<uint64_t> stated_size(Bytes beginning);

/// Errors: InvalidImage, a line that names the part, the offset and what is wrong.
Result<Library> read(Bytes bytes);

/// Error: InvalidValue for a name or tag that the format cannot hold.
Result<std::vector<std::byte>> write(const Library& library);

// -- contents of sections and metadata --

/// An entry of RLST: what reflection knows of a function, in a FlatBuffer of Apple's behind padding.
struct Reflection {
  uint64_t offset;  ///< in the section
  Bytes buffer;
};

/// The sources that HSRC or HSRD holds.
struct Sources {
  struct Archive {
    uint64_t offset;  ///< in the section, behind the archive's size: what SOFF names
    std::string id;
    Bytes contents;  ///< a bzip2-compressed tar file
  };
  std::string options;
  std::optional<std::string> directory;  ///< in HSRD only
  std::vector<Archive> archives;
};

/// A function constant, of the tag CNST.
struct FunctionConstant {
  std::string name;
  uint8_t type;  ///< an MTLDataType
  uint16_t index;
  bool active;
};

/// Where the source of a function is, of the tag DEBI.
struct DebugLine {
  uint32_t line;
  std::string path;
};

const Extension* find_extension(const Library& library, TagName name);
const Tag* find_tag(std::span<const Tag> tags, TagName name);

Result<std::vector<Reflection>> reflections(const Library& library);
Result<std::optional<Sources>> sources(const Library& library);
Result<std::optional<std::string>> library_name(const Library& library);  ///< of HDYN
Result<std::vector<FunctionConstant>> function_constants(const Function& function);
Result<std::optional<DebugLine>> debug_line(const Function& function);

}  // namespace cupola::metallib
