#pragma once

// A part of cuda_pipeline_primitives.h.
#include "cuda_pipeline_primitives.h"
