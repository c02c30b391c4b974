#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/metal/metallib/tags.h"
#include "backend/metal/metallib/versions.h"

namespace cupola::metallib {

/// What a module of AIR says of itself. Of its functions' code, types and most metadata nothing is read.
struct ModuleSummary {
  uint64_t wrapper_bytes = 0;  ///< in front; 0 without a wrapper
  uint64_t bitcode_bytes = 0;
  std::string identification;              ///< who wrote the bitcode; Apple leaves it empty
  std::optional<uint64_t> epoch;           ///< of the bitcode's format
  std::optional<uint64_t> record_version;  ///< of the module's records; 2 since LLVM 5
  std::string triple, data_layout, source_file;
  bool typed_pointers = false, opaque_pointers = false;
  std::vector<std::string> defined, declared;  ///< functions
  std::vector<std::string> named_metadata;
  std::string producer;                      ///< llvm.ident
  std::vector<uint64_t> air_version;         ///< {2, 5, 0}
  std::string language;                      ///< "Metal"
  std::vector<uint64_t> language_version;    ///< {3, 0, 0}
  std::vector<std::string> compile_options;  ///< air.compile.*
  std::vector<std::string> kernels;          ///< of air.kernel
  std::string image_note;                    ///< of kImageNote; empty without
};

/// Metadata that Cupola leaves in the first module of a container: what its own host must know of all kernels there, an
/// image of image/metal_image.h without source.
inline constexpr char kImageNote[] = "cupola.image";

/// Error: InvalidImage for what is no bitcode or ends early.
Result<ModuleSummary> summarize(Bytes module);

bool has_metadata(const ModuleSummary& summary, std::string_view name);

}  // namespace cupola::metallib
