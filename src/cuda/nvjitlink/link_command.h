#pragma once

#pragma GCC visibility push(default)
#include <nvJitLink.h>
#pragma GCC visibility pop

#include <span>
#include <string>

namespace cupola::nvjitlink {

/// What the options of nvJitLinkCreate ask for.
struct LinkCommand {
  std::string architecture;  ///< "sm_89"
  bool is_virtual = false;   ///< said as compute_89
  bool lto = false, ptx = false, verbose = false, time = false;

  nvJitLinkResult result = NVJITLINK_SUCCESS;  ///< of the options themselves
  std::string error = {};                      ///< why they are refused
};

LinkCommand read_command(std::span<const char* const> options);

}  // namespace cupola::nvjitlink
