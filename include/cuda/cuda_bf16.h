#pragma once

// bfloat16: "CUDA Math API, Bfloat16 Precision Intrinsics". A __nv_bfloat16 holds clang's __bf16.

#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__cplusplus)

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

#pragma push_macro("CUPOLA_BOTH")
#define CUPOLA_BOTH static __host__ __device__ __inline__ __attribute__((always_inline, unused))
#define CUPOLA_MEMBER __host__ __device__ __attribute__((always_inline))

struct __align__(2) __nv_bfloat16 {
  __nv_bfloat16() = default;
  CUPOLA_MEMBER __nv_bfloat16(__nv_bfloat16_raw raw) : value_(__builtin_bit_cast(__bf16, raw.x)) {}
  CUPOLA_MEMBER __nv_bfloat16(float x) : value_((__bf16)(float)x) {}
  CUPOLA_MEMBER __nv_bfloat16(double x) : value_((__bf16)(float)x) {}
  CUPOLA_MEMBER __nv_bfloat16(int x) : value_((__bf16)(float)x) {}
  CUPOLA_MEMBER __nv_bfloat16(unsigned int x) : value_((__bf16)(float)x) {}
  CUPOLA_MEMBER __nv_bfloat16(short x) : value_((__bf16)(float)x) {}
  CUPOLA_MEMBER __nv_bfloat16(unsigned short x) : value_((__bf16)(float)x) {}
  CUPOLA_MEMBER __nv_bfloat16(long x) : value_((__bf16)(float)x) {}
  CUPOLA_MEMBER __nv_bfloat16(unsigned long x) : value_((__bf16)(float)x) {}
  CUPOLA_MEMBER __nv_bfloat16(long long x) : value_((__bf16)(float)x) {}
  CUPOLA_MEMBER __nv_bfloat16(unsigned long long x) : value_((__bf16)(float)x) {}
  CUPOLA_MEMBER operator float() const { return (float)value_; }
  CUPOLA_MEMBER operator __nv_bfloat16_raw() const { return {__builtin_bit_cast(unsigned short, value_)}; }
  CUPOLA_MEMBER explicit operator bool() const { return value_ != 0; }
  CUPOLA_MEMBER explicit operator int() const { return (int)value_; }
  CUPOLA_MEMBER explicit operator unsigned int() const { return (unsigned int)value_; }

 private:
  __bf16 value_;
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  CUPOLA_MEMBER __nv_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) : x(low), y(high) {}
  CUPOLA_MEMBER __nv_bfloat162(__nv_bfloat162_raw raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

CUPOLA_BOTH __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
CUPOLA_BOTH __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
CUPOLA_BOTH __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
CUPOLA_BOTH float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
CUPOLA_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) {
  return __nv_bfloat162(low, high);
}
CUPOLA_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
CUPOLA_BOTH __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(x, x); }
CUPOLA_BOTH __nv_bfloat162 __floats2bfloat162_rn(float low, float high) { return __nv_bfloat162(low, high); }
CUPOLA_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 x) { return __nv_bfloat162(x.x, x.y); }
CUPOLA_BOTH float2 __bfloat1622float2(__nv_bfloat162 x) { return {(float)x.x, (float)x.y}; }
CUPOLA_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return __nv_bfloat162(low, high); }
CUPOLA_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
CUPOLA_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
CUPOLA_BOTH float __low2float(__nv_bfloat162 x) { return (float)x.x; }
CUPOLA_BOTH float __high2float(__nv_bfloat162 x) { return (float)x.y; }
CUPOLA_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 x) { return __nv_bfloat162(x.x, x.x); }
CUPOLA_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 x) { return __nv_bfloat162(x.y, x.y); }
CUPOLA_BOTH __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 x) { return __nv_bfloat162(x.y, x.x); }
CUPOLA_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return __builtin_bit_cast(unsigned short, x); }
CUPOLA_BOTH short __bfloat16_as_short(__nv_bfloat16 x) { return __builtin_bit_cast(short, x); }
CUPOLA_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __builtin_bit_cast(__nv_bfloat16, x); }
CUPOLA_BOTH __nv_bfloat16 __short_as_bfloat16(short x) { return __builtin_bit_cast(__nv_bfloat16, x); }
CUPOLA_BOTH __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16(x); }
CUPOLA_BOTH __nv_bfloat16 __uint2bfloat16_rn(unsigned int x) { return __nv_bfloat16(x); }
CUPOLA_BOTH int __bfloat162int_rz(__nv_bfloat16 x) { return (int)(float)x; }
static __device__ __inline__ int __bfloat162int_rn(__nv_bfloat16 x) { return __float2int_rn((float)x); }
static __device__ __inline__ int __bfloat162int_rd(__nv_bfloat16 x) { return __float2int_rd((float)x); }
static __device__ __inline__ int __bfloat162int_ru(__nv_bfloat16 x) { return __float2int_ru((float)x); }

#undef CUPOLA_MEMBER
#pragma pop_macro("CUPOLA_BOTH")

#define CUPOLA_H __nv_bfloat16
#define CUPOLA_H2 __nv_bfloat162
#define CUPOLA_TO(f) __nv_bfloat16(f)
#define CUPOLA_FROM(h) ((float)(h))
#include "cupola/half_operations.h"
#undef CUPOLA_H
#undef CUPOLA_H2
#undef CUPOLA_TO
#undef CUPOLA_FROM

#endif
