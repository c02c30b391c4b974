#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::tool {

struct PtxOptions {
  std::string file;                     ///< PTX, kir, a fat binary, a program; "-" is standard input
  bool kir = false;                     ///< print kir
  bool back = false;                    ///< print PTX made from kir
  std::string architecture = "89";      ///< of that PTX: "89", "sm_90a"
  std::string kernel;                   ///< run this one
  std::string grid = "1", block = "1";  ///< "x,y,z"
  uint32_t shared_bytes = 0;
  std::vector<std::string> arguments;  ///< kernel_argument.h
};

/// Checks and prints kernel code, or runs a kernel of it, to standard output.
Result<> ptx_command(const PtxOptions& options, const std::filesystem::path& root);

}  // namespace cupola::tool
