#pragma once

// Its declarations are part of cuda_runtime.h.
#include "cuda_runtime.h"
