#pragma once

#include "base/result.h"

namespace cupola::cpu {

/// Calls `function(argument)`, which owns nothing and takes no lock; a fault in it ends the call and becomes the error.
/// Any thread, also one that is the program's; not on a fibre.
Result<> call_guarded(void (*function)(void*), void* argument);

}  // namespace cupola::cpu
