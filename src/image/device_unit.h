#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// A device unit: what `cupolac -dc` puts into an object beside its host code, in the section that clang has for such
// things (.llvm.offloading; the host's linker leaves it out of programs). A section may hold several, one behind the
// other, after `ld -r`.

namespace cupola::image {

/// The relocatable device code of one source file.
struct DeviceUnit {
  std::string name;               ///< a C identifier, different for each compilation
  std::vector<std::byte> fatbin;  ///< with one entry of kir
};

std::vector<std::byte> write_unit(const DeviceUnit& unit);

/// The units in a section; what is not a unit ends the reading, because other compilers use the section too. Error:
/// InvalidImage for a unit that is cut off.
Result<std::vector<DeviceUnit>> read_units(std::span<const std::byte> section);

/// The name for the compilation of a file: its stem, and a hash of all that tells it from others.
std::string unit_name(const std::string& stem, std::string_view difference);

}  // namespace cupola::image
