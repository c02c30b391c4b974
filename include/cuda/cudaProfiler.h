#pragma once

// The driver API's profiler switches; cuda.h declares them with the rest of the table.
#include "cuda.h"
