#pragma once

#include <string>

#include "base/result.h"
#include "rows.h"

namespace cupola::libdevicetest {

/// How kernels come to the functions they call.
enum class Way {
  libdevice,  ///< linked with the bitcode as it is shipped
  own,        ///< left to the driver, which links the device library
  ptx         ///< as libdevice, then made into PTX
};

/// What cuModuleLoadData takes: a kernel for each row. `flushes`: as a program compiled with -ftz=true.
Result<std::string> image_of(std::span<const Row* const> rows, Way way, const std::string& libdevice, bool flushes);

}  // namespace cupola::libdevicetest
