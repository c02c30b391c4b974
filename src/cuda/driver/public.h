#pragma once

// The driver's own functions, declared as they are exported: everything else in the library is hidden. Plain names are
// not turned into versioned ones here.

#define CUPOLA_BUILDING_LIBCUDA
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop
