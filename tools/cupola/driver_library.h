#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cupola::tool {

/// libcuda as any program sees it: opened at run time, called through the public driver API ("CUDA Driver API").
class DriverLibrary {
 public:
  /// Opens lib/libcuda.so.1 and initialises it. Errors: the loader's words, or the call that failed and its number.
  static Result<DriverLibrary> open(const std::filesystem::path& libraries);

  struct Device {
    std::string name;
    size_t memory_bytes = 0;
    std::vector<std::pair<std::string, int>> attributes;     ///< those it answers, by lower-case name
    int attribute(const std::string& attribute_name) const;  ///< 0 when it does not answer
  };

  int version() const { return version_; }  ///< 13000 for 13.0
  const std::vector<Device>& devices() const { return devices_; }

 private:
  int version_ = 0;
  std::vector<Device> devices_;
};

}  // namespace cupola::tool
