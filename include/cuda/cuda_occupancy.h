#pragma once

// Libraries include this header and call the runtime's occupancy functions. The stand-alone calculator (cudaOcc...),
// which answers for GPUs that the program describes, is not here.

#include "cuda_runtime_api.h"
