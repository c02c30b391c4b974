#pragma once

// cudaProfilerStart() and cudaProfilerStop() are rows of the runtime's table.
#include "cuda_runtime_api.h"
