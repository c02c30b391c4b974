#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// As much of ELF objects and of archives as the device link needs. Formats: "System V Application Binary Interface",
// chapter Object Files; ar(5) with GNU's and BSD's long names.

namespace cupola::image {

/// The contents of the named section of an ELF object; empty where the bytes are none or have no such section. Every
/// offset is checked. The view points into `object`.
std::string_view section_of(std::string_view object, std::string_view name);

/// The bytes are an archive: "!<arch>", or "!<thin>", whose members are other files.
bool is_archive(std::string_view bytes);

struct ArchiveMember {
  std::string name;        ///< of a thin archive: a path relative to the archive's folder
  std::string_view bytes;  ///< of a thin archive: empty
};

/// Members other than symbol tables. Error: InvalidImage, naming the offset of what is cut off.
Result<std::vector<ArchiveMember>> members_of(std::string_view archive);

}  // namespace cupola::image
