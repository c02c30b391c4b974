#pragma once
#define __CUDA_RUNTIME_H__

// What a CUDA C++ program includes (cupolac includes it first into every .cu file): the runtime API, its C++ overloads,
// the vector types and, when CUDA is compiled, the built-in variables and device functions. In a plain C or C++ file it
// is the runtime API only. "CUDA C++ Programming Guide" and "CUDA Math API" document what is declared here.
//
// Device functions come in two parts: clang's own resource headers (their names begin with __clang_cuda), which declare
// the math library, and ours in cupola/, for what those headers take from NVIDIA's or express in inline PTX.

#if defined(__CUDA__)
#include "cupola/device_begin.h"
#endif

#include "builtin_types.h"
#include "channel_descriptor.h"
#ifndef __CUDACC_RTC__  // which compiles no host code
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "library_types.h"
#endif
#include "driver_types.h"
#include "host_defines.h"
#include "vector_functions.h"

#if defined(__CUDA__)
#include "cupola/device_math.h"
#include "cupola/atomics.h"
#include "cupola/integer.h"
#include "cupola/memory.h"
#include "cupola/warp.h"
#include "cupola/execution.h"
#include "cuda_device_runtime_api.h"
#include "cupola/textures.h"
#endif

#if defined(__cplusplus) && !defined(__CUDACC_RTC__)
#include "cupola/runtime_overloads.h"
#endif
