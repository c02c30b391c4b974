#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::nvrtc {

/// What the options of a compilation ask for.
struct Command {
  std::string architecture = "sm_75";  ///< "sm_90a"; the first one that CUDA 13 has is the default
  bool real_architecture = false;      ///< -arch=sm_NN, not compute_NN: the program has a cubin
  std::string standard = "c++17";
  std::string prologue;  ///< the lines that -D, -U and -include stand for
  std::vector<std::string> include_folders;
  uint32_t flags = 0;     ///< image::SourceFlag
  bool lto = false;       ///< code for nvJitLink, no PTX
  std::string time_file;  ///< where times go; "-" is the log, "" nowhere
};

/// Architectures that -arch takes, ascending.
std::span<const int> supported_architectures();

/// Reads options as options.def has them. Error: InvalidValue, with the option.
Result<Command> read_command(std::span<const char* const> options);

}  // namespace cupola::nvrtc
