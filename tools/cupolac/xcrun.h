#pragma once

#include <string>

#include "base/result.h"

namespace cupola::cupolac {

/// Xcode's launcher of compilers. Error: NotSupported, naming the option that asked and what to give instead.
Result<std::string> find_xcrun(const std::string& option, const std::string& instead);

/// A word that a shell takes as it is.
std::string shell_word(const std::string& word);

}  // namespace cupola::cupolac
