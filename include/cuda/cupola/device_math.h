#pragma once

// The math library in device code, and the part of it that CUDA also gives to host code. clang's headers define the
// functions of <cmath>, the intrinsics and the conversions in terms of __nv_*, which src/device implements. They ask
// CUDA_VERSION which toolkit they complete: 9.1 is the one for which the SIMD-in-word functions are calls too, not
// inline PTX.

#pragma push_macro("CUDA_VERSION")
#undef CUDA_VERSION
#define CUDA_VERSION 9010

#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>

// These two are inline PTX in clang's header; execution.h has ours.
#pragma push_macro("__brkpt")
#define __brkpt __cupola_unused_brkpt
#include <__clang_cuda_device_functions.h>
#pragma pop_macro("__brkpt")
#undef __prof_trigger

#include <__clang_cuda_math.h>
#include <__clang_cuda_cmath.h>
#include <__clang_cuda_complex_builtins.h>

#pragma pop_macro("CUDA_VERSION")

#include "math_overloads.h"
