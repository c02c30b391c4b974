#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupola::image {

enum class CodeKind : uint8_t { Kir, Ptx, KernelUnit };

/// One piece of kernel code: kir bitcode or text, PTX text, or the unit of a kernel that an image holds.
struct CodeUnit {
  CodeKind kind = CodeKind::Kir;
  std::vector<std::byte> bytes;
  bool operator==(const CodeUnit&) const = default;
};

/// What the run half asks of the compiler. Serialised, because it crosses a C boundary and is hashed for the cache key.
struct CompileRequest {
  std::string target;  ///< hal::DeviceProperties::image_target; or "kir", "ptx:sm_89", "explain": text made of the code
  std::string keep;    ///< folder for intermediate files, or empty (not part of the key)
  std::vector<CodeUnit> units;  ///< linked into one image; at least one
  /// Which code an image holds: empty: none, it is left for later; "all"; or, made of a KernelUnit alone, the code for
  /// blocks of a class, by its name (image/block_class.h).
  std::string code;
};

std::vector<std::byte> serialize(const CompileRequest& request);
Result<CompileRequest> deserialize_request(std::span<const std::byte> bytes);

/// Hash of what decides the result: format version, compiler, target, code. 128 bits as 32 hexadecimal digits.
/// `compiler` names the compiler that would be asked; file_identity() (cache.h) of its library is a good name.
std::string cache_key(const CompileRequest& request, std::string_view compiler = {});

}  // namespace cupola::image
