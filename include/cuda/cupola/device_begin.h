#pragma once

// First part of cuda_runtime.h when clang compiles CUDA: the names that tell a program who compiles it, clang's forward
// declarations (which must come before <cmath>, or its constexpr functions would become device functions), and the
// standard headers that the rest builds on. Code that is compiled at run time (NVRTC) has no standard headers.

#if !defined(__clang__) || __clang_major__ < 20
#error "Cupola's headers need clang 20 or newer to compile CUDA; use cupolac."
#endif
#if !__has_declspec_attribute(property)
#error "Cupola's headers need -fdeclspec to compile CUDA; use cupolac."
#endif

#define __CUPOLA__ 1

// nvcc takes `::template name(` without template arguments, which older libraries of templates write; for clang it is
// an error unless told otherwise.
#if __has_warning("-Wmissing-template-arg-list-after-template-kw")
#pragma clang diagnostic ignored "-Wmissing-template-arg-list-after-template-kw"
#endif

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
// Clang includes cuda.h into every CUDA file: libraries that know clang ask this for the toolkit's version.
#define CUDA_VERSION 13000
#define __CUDA_API_VER_MAJOR__ 13
#define __CUDA_API_VER_MINOR__ 0
#ifndef __CUDA_ARCH_LIST__
#define __CUDA_ARCH_LIST__ 890
#endif

#include <__clang_cuda_math_forward_declares.h>

#ifdef __CUDACC_RTC__
#include "rtc_begin.h"
#else
#include <climits>
#include <cmath>
#include <cstdlib>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#endif

#include "../host_defines.h"

// clang has no managed variables in CUDA: say so instead of "unknown type name".
#define __managed__ \
  __attribute__((unavailable("__managed__ variables are not supported by Cupola; allocate with cudaMallocManaged")))

#define __nv_pure__ __attribute__((pure))

// "CUDA C++ Programming Guide", Extended Lambdas: nvcc's type traits of the types that stand for lambdas in host code.
// Here a lambda has its own type everywhere, so no type is such a placeholder.
#ifdef __CUDACC_EXTENDED_LAMBDA__
#define __nv_is_extended_device_lambda_closure_type(type) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(type) false
#define __nv_is_extended_host_device_lambda_closure_type(type) false
#endif
#ifndef __cudaPushCallConfigurationDeclared
#define __cudaPushCallConfigurationDeclared
struct CUstream_st;
struct dim3;
#endif
