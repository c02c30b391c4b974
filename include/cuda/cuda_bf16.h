#pragma once
#define __CUDA_BF16_H__

// bfloat16: "CUDA Math API, Bfloat16 Precision Intrinsics". Serves host files of any compiler too.

#include "cuda_fp16.h"
#include "cuda_runtime.h"

#if defined(__cplusplus)
#include "cupola/half_format.h"

#define CUPOLA_H __nv_bfloat16
#define CUPOLA_H2 __nv_bfloat162
#define CUPOLA_RAW __nv_bfloat16_raw
#define CUPOLA_RAW2 __nv_bfloat162_raw
#define CUPOLA_OTHER __half
#define CUPOLA_WORD bfloat16
#define CUPOLA_FRACTION 7
#if !defined(__CUDA_NO_BFLOAT16_CONVERSIONS__)
#define CUPOLA_CONVERSIONS 1
#endif
#if !defined(__CUDA_NO_BFLOAT16_OPERATORS__)
#define CUPOLA_OPERATORS 1
#endif
#if !defined(__CUDA_NO_BFLOAT162_OPERATORS__)
#define CUPOLA_OPERATORS2 1
#endif
#include "cupola/half_type.h"
#include "cupola/half_operations.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7fu)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000u)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80u)

#define __CUDA_BF16_TYPES_EXIST__
#include "cupola/half_crossing.h"
#endif
