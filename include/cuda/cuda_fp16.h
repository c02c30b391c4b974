#pragma once

// Half precision: "CUDA Math API, Half Precision Intrinsics". A __half holds clang's _Float16.

#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__cplusplus)

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

#pragma push_macro("CUPOLA_BOTH")
#define CUPOLA_BOTH static __host__ __device__ __inline__ __attribute__((always_inline, unused))
#define CUPOLA_MEMBER __host__ __device__ __attribute__((always_inline))

struct __align__(2) __half {
  __half() = default;
  CUPOLA_MEMBER __half(__half_raw raw) : value_(__builtin_bit_cast(_Float16, raw.x)) {}
  CUPOLA_MEMBER __half(float x) : value_((_Float16)x) {}
  CUPOLA_MEMBER __half(double x) : value_((_Float16)x) {}
  CUPOLA_MEMBER __half(int x) : value_((_Float16)x) {}
  CUPOLA_MEMBER __half(unsigned int x) : value_((_Float16)x) {}
  CUPOLA_MEMBER __half(short x) : value_((_Float16)x) {}
  CUPOLA_MEMBER __half(unsigned short x) : value_((_Float16)x) {}
  CUPOLA_MEMBER __half(long x) : value_((_Float16)x) {}
  CUPOLA_MEMBER __half(unsigned long x) : value_((_Float16)x) {}
  CUPOLA_MEMBER __half(long long x) : value_((_Float16)x) {}
  CUPOLA_MEMBER __half(unsigned long long x) : value_((_Float16)x) {}
  CUPOLA_MEMBER operator float() const { return (float)value_; }
  CUPOLA_MEMBER operator __half_raw() const { return {__builtin_bit_cast(unsigned short, value_)}; }
  CUPOLA_MEMBER explicit operator bool() const { return value_ != 0; }
  CUPOLA_MEMBER explicit operator int() const { return (int)value_; }
  CUPOLA_MEMBER explicit operator unsigned int() const { return (unsigned int)value_; }

 private:
  _Float16 value_;
};
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  CUPOLA_MEMBER __half2(__half low, __half high) : x(low), y(high) {}
  CUPOLA_MEMBER __half2(__half2_raw raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

CUPOLA_BOTH __half __float2half(float x) { return __half(x); }
CUPOLA_BOTH __half __float2half_rn(float x) { return __half(x); }
CUPOLA_BOTH __half __double2half(double x) { return __half(x); }
CUPOLA_BOTH float __half2float(__half x) { return (float)x; }
CUPOLA_BOTH __half2 __halves2half2(__half low, __half high) { return __half2(low, high); }
CUPOLA_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
CUPOLA_BOTH __half2 __float2half2_rn(float x) { return __half2(x, x); }
CUPOLA_BOTH __half2 __floats2half2_rn(float low, float high) { return __half2(low, high); }
CUPOLA_BOTH __half2 __float22half2_rn(float2 x) { return __half2(x.x, x.y); }
CUPOLA_BOTH float2 __half22float2(__half2 x) { return {(float)x.x, (float)x.y}; }
CUPOLA_BOTH __half2 make_half2(__half low, __half high) { return __half2(low, high); }
CUPOLA_BOTH __half __low2half(__half2 x) { return x.x; }
CUPOLA_BOTH __half __high2half(__half2 x) { return x.y; }
CUPOLA_BOTH float __low2float(__half2 x) { return (float)x.x; }
CUPOLA_BOTH float __high2float(__half2 x) { return (float)x.y; }
CUPOLA_BOTH __half2 __low2half2(__half2 x) { return __half2(x.x, x.x); }
CUPOLA_BOTH __half2 __high2half2(__half2 x) { return __half2(x.y, x.y); }
CUPOLA_BOTH __half2 __lowhigh2highlow(__half2 x) { return __half2(x.y, x.x); }
CUPOLA_BOTH unsigned short __half_as_ushort(__half x) { return __builtin_bit_cast(unsigned short, x); }
CUPOLA_BOTH short __half_as_short(__half x) { return __builtin_bit_cast(short, x); }
CUPOLA_BOTH __half __ushort_as_half(unsigned short x) { return __builtin_bit_cast(__half, x); }
CUPOLA_BOTH __half __short_as_half(short x) { return __builtin_bit_cast(__half, x); }
CUPOLA_BOTH __half __int2half_rn(int x) { return __half(x); }
CUPOLA_BOTH __half __uint2half_rn(unsigned int x) { return __half(x); }
CUPOLA_BOTH int __half2int_rz(__half x) { return (int)(float)x; }
static __device__ __inline__ int __half2int_rn(__half x) { return __float2int_rn((float)x); }
static __device__ __inline__ int __half2int_rd(__half x) { return __float2int_rd((float)x); }
static __device__ __inline__ int __half2int_ru(__half x) { return __float2int_ru((float)x); }

#undef CUPOLA_MEMBER
#pragma pop_macro("CUPOLA_BOTH")

#define CUPOLA_H __half
#define CUPOLA_H2 __half2
#define CUPOLA_TO(f) __half(f)
#define CUPOLA_FROM(h) ((float)(h))
#include "cupola/half_operations.h"
#undef CUPOLA_H
#undef CUPOLA_H2
#undef CUPOLA_TO
#undef CUPOLA_FROM

#endif
