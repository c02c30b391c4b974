#pragma once

// What is there before the first line of code that is compiled at run time: "NVRTC, Language". src/frontend keeps it
// precompiled. The macros are what clang's headers take from the C library's; programs may define them for themselves.

#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#include "rtc/cupola_fp_classes.h"

#include "../cuda_runtime.h"

#undef INT_MAX
#undef INT_MIN
#undef HUGE_VAL
#undef HUGE_VALF
#undef FP_NAN
#undef FP_INFINITE
#undef FP_ZERO
#undef FP_SUBNORMAL
#undef FP_NORMAL
#undef numeric_limits

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
__device__ inline void* operator new(size_t bytes) { return ::malloc(bytes ? bytes : 1); }
__device__ inline void* operator new[](size_t bytes) { return ::malloc(bytes ? bytes : 1); }
__device__ inline void operator delete(void* memory) noexcept { ::free(memory); }
__device__ inline void operator delete[](void* memory) noexcept { ::free(memory); }
__device__ inline void operator delete(void* memory, size_t) noexcept { ::free(memory); }
__device__ inline void operator delete[](void* memory, size_t) noexcept { ::free(memory); }
#pragma clang diagnostic pop

#define CUDART_VERSION 13000

// Libraries that know NVRTC find out who compiles them: NVRTC is what is left when no other compiler gives its name.
#undef __clang__
#undef __clang_major__
#undef __clang_minor__
#undef __clang_patchlevel__
#undef __clang_version__
#undef __GNUC__
#undef __GNUC_MINOR__
#undef __GNUC_PATCHLEVEL__
#undef __GNUG__
