#pragma once

#include <string>

#include "base/result.h"

namespace cupola::cupolac {

/// Xcode's launcher of compilers. Error: NotSupported, naming the option that asked and what to give instead.
Result<std::string> find_xcrun(const std::string& option, const std::string& instead);

}  // namespace cupola::cupolac
