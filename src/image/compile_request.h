#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupola::image {

/// What the run half asks of the compiler. Serialised, because it crosses a C boundary and is hashed for the cache key.
struct CompileRequest {
  std::string target;           ///< hal::DeviceProperties::image_target
  std::string keep;             ///< folder for intermediate files, or empty (not part of the key)
  std::vector<std::byte> code;  ///< kir bitcode (later also PTX)
};

std::vector<std::byte> serialize(const CompileRequest& request);
Result<CompileRequest> deserialize_request(std::span<const std::byte> bytes);

/// Hash of what decides the result: format version, compiler, target, code. 128 bits as 32 hexadecimal digits.
/// `compiler` names the compiler that would be asked; file_identity() (cache.h) of its library is a good name.
std::string cache_key(const CompileRequest& request, std::string_view compiler = {});

}  // namespace cupola::image
