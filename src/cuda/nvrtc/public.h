#pragma once

// NVRTC's functions, declared as they are exported: everything else in the library is hidden.

#pragma GCC visibility push(default)
#include "nvrtc.h"
#pragma GCC visibility pop
