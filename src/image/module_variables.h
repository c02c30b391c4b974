#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/kernel_info.h"
#include "base/result.h"
#include "image/wire.h"

// What the images of all devices say in the same way: a kernel's facts and a module's variables.

namespace cupola::image {

/// A variable in module data.
struct DataSymbol {
  std::string name;
  uint64_t offset = 0, size = 0;
  bool constant = false;
};

/// A word of module data that the loader computes.
struct DataRelocation {
  enum class Kind : uint32_t { DataAddress, CodeAddress };
  uint64_t offset = 0;  ///< of the 8-byte word, in module data
  Kind kind = Kind::DataAddress;
  uint64_t addend = 0;  ///< offset in module data, or in the segment
};

/// A module's variables, constants and literals as they lie in memory when it is loaded.
struct ModuleVariables {
  std::vector<DataSymbol> symbols;
  std::vector<std::byte> data;  ///< initial module data
  uint64_t data_alignment = 64;
  std::vector<DataRelocation> relocations;
};

void write_info(wire::Writer& out, const KernelInfo& info);
Result<KernelInfo> read_info(wire::Reader& in);
inline constexpr size_t kLeastInfoBytes = 48;  ///< that a KernelInfo takes

void write_variables(wire::Writer& out, const ModuleVariables& variables);
Result<> read_variables(wire::Reader& in, ModuleVariables& variables);

/// True when [offset, offset + size) lies within [0, total).
inline bool fits(uint64_t offset, uint64_t size, uint64_t total) {
  return size <= total && offset <= total - size;
}

// Errors: InvalidImage, for places outside of what they lie in. `code_bytes`: how far a relocation to code may point.
Result<> check_info(const KernelInfo& info);
Result<> check_variables(const ModuleVariables& variables, uint64_t code_bytes);

}  // namespace cupola::image
