#pragma once

// Of cuda_bf16.h, which includes cuda_fp16.h: each type from the other.

__host__ __device__ __inline__ __half::__half(const __nv_bfloat16& x)
    : __x(cupola::halves::narrow<10>(__bfloat162float(x))) {}
__host__ __device__ __inline__ __nv_bfloat16::__nv_bfloat16(const __half& x)
    : __x(cupola::halves::narrow<7>(__half2float(x))) {}
