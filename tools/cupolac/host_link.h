#pragma once

#include "base/result.h"

namespace cupola::cupolac {

/// True for a program that is run as host-link, the name under which build systems that link by themselves (CMake) find
/// cupolac.
bool is_host_link(const char* program);

/// Becomes clang++ with the words given and the RUNPATH of Cupola's libraries. Returns only on error.
Result<int> host_link(int count, char** words);

}  // namespace cupola::cupolac
