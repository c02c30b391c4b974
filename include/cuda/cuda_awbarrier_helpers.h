#pragma once

// A part of cuda_awbarrier_primitives.h.
#include "cuda_awbarrier_primitives.h"
