#pragma once
#define __CUDA_FP8_H__

// 8-bit floating point: "CUDA Math API, FP8 Intrinsics". Serves host files of any compiler too.

#include "cuda_runtime.h"

#if defined(__cplusplus)
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"

#include "cupola/float8_format.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short int __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#define __CUDA_FP8_TYPES_EXIST__

#include "cupola/float8_conversions.h"
#include "cupola/float8_types.h"
#endif
