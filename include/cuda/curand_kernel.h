#pragma once
#define CURAND_KERNEL_H_

// Random numbers in device code: "cuRAND, Device API Overview" and "Device API". XORWOW, Philox4_32_10 and MRG32k3a
// give the sequences of cuRAND. Sobol's generators take the program's direction vectors. MTGP32 and discrete
// distributions of the program's own, which need tables from the host library, are not here.

#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__cplusplus)
#include "cupola/random_states.h"
#include "cupola/random_quasi.h"
#include "cupola/random_distributions.h"
#endif
