#pragma once
#define __CUDA_FP16_H__

// Half precision: "CUDA Math API, Half Precision Intrinsics". Serves host files of any compiler too.

#include "cuda_runtime.h"

#if defined(__cplusplus)
#include "cupola/half_format.h"

#define CUPOLA_H __half
#define CUPOLA_H2 __half2
#define CUPOLA_RAW __half_raw
#define CUPOLA_RAW2 __half2_raw
#define CUPOLA_OTHER __nv_bfloat16
#define CUPOLA_WORD half
#define CUPOLA_FRACTION 10
#if !defined(__CUDA_NO_HALF_CONVERSIONS__)
#define CUPOLA_CONVERSIONS 1
#endif
#if !defined(__CUDA_NO_HALF_OPERATORS__)
#define CUPOLA_OPERATORS 1
#endif
#if !defined(__CUDA_NO_HALF2_OPERATORS__)
#define CUPOLA_OPERATORS2 1
#endif
#include "cupola/half_type.h"
#include "cupola/half_operations.h"

typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;
#if !defined(CUDA_NO_HALF)
typedef __half half;
typedef __half2 half2;
#endif

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00u)

#define __CUDA_FP16_TYPES_EXIST__
#endif
