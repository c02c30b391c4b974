#pragma once

// The runtime's own functions, declared as they are exported: everything else in the library is hidden.

#define CUPOLA_BUILDING_CUDART
#pragma GCC visibility push(default)
#include "cuda_runtime_api.h"

extern "C" {
#define CUDART_INTERNAL(type, name, since, status, signature) type name signature;
#include "cuda/cudart/runtime.def"
}
#pragma GCC visibility pop
