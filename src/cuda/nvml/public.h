#pragma once

// nvml.h as the library itself sees it: functions by the names that they are exported by.
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#pragma GCC visibility push(default)
#include <nvml.h>
#pragma GCC visibility pop
