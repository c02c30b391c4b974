#pragma once

#include <span>
#include <string_view>

namespace cupola::driver {

/// A row of driver.def.
struct EntryPoint {
  std::string_view name;  ///< as exported
  int since;              ///< CUDA version times 1000; 0 when the row has none
  void* address;
};

/// All rows, in the table's order.
std::span<const EntryPoint> entry_points();

/// "cuMemcpyHtoD_v2_ptds" in its parts.
struct NameParts {
  std::string_view base;
  int version = 1;
  bool per_thread = false;
};
NameParts split(std::string_view name);

}  // namespace cupola::driver
