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

/// The first option that is wrong is in `result` and `error`: NVJITLINK_ERROR_UNRECOGNIZED_OPTION for a word that
/// options.def has not, a null one too, or a value it does not take; _UNRECOGNIZED_ARCH; _MISSING_ARCH;
/// _INCOMPATIBLE_OPTIONS for -ptx or a virtual architecture without -lto. All others are read. Any thread.
LinkCommand read_command(std::span<const char* const> options);

}  // namespace cupola::nvjitlink
