#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupola::cupolac {

/// A GPU architecture by compute capability: 89 and "" for sm_89, 90 and "a" for sm_90a.
struct Architecture {
  int number = 89;
  std::string suffix;
  std::string sm() const { return "sm_" + std::to_string(number) + suffix; }
  friend bool operator==(const Architecture&, const Architecture&) = default;
};

/// The compute capability that Cupola's devices report.
inline constexpr int kDeviceCapability = 89;

/// The architectures that a value of -arch, -code or -gencode names: sm_80, compute_90a, native, all, all-major, or
/// "arch=compute_80,code=[sm_80,compute_80]". Error: InvalidValue.
Result<std::vector<Architecture>> parse_architectures(std::string_view text);

/// The one that code is compiled for: what a device of capability 8.9 would take from a fat binary with all of them,
/// that is the highest one up to 8.9, else the lowest above. Nothing requested: sm_89. Requests below sm_75 count as
/// sm_75, the first one that CUDA 13 has.
Architecture choose(const std::vector<Architecture>& requested);

}  // namespace cupola::cupolac
