#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::tool {

/// What an ELF program says about itself. Format: "System V Application Binary Interface", chapters Object Files and
/// Dynamic Linking.
struct ProgramFile {
  uint16_t machine = 0;             ///< EM_X86_64, EM_AARCH64
  bool dynamic = false;             ///< the loader places shared libraries into it
  std::vector<std::string> needed;  ///< sonames it is linked to
  std::vector<std::string> rpath;   ///< folders searched before LD_LIBRARY_PATH
  bool has_device_code = false;     ///< a section of CUDA fat binaries
  bool defines_runtime = false;     ///< the CUDA runtime's functions are inside
  bool runtime_is_ours = false;     ///< and they are Cupola's

  /// Reads the file; nothing when it is no ELF file (a script). Errors: FileNotFound; InvalidImage for a broken ELF
  /// file.
  static Result<std::optional<ProgramFile>> read(const std::filesystem::path& path);
};

/// Why `cupola run` cannot give the program Cupola's libraries, with what to do instead, in one line; empty when it
/// can.
std::string why_not(const ProgramFile& program);

}  // namespace cupola::tool
