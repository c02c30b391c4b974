#pragma once

#include "vector_types.h"

// make_float4(x, y, z, w) and its family: "CUDA C++ Programming Guide, Built-in Vector Types".

#define CUPOLA_MAKE_1(name, type)                                  \
  static __inline__ __host__ __device__ name make_##name(type x) { \
    name v = {x};                                                  \
    return v;                                                      \
  }
#define CUPOLA_MAKE_2(name, type)                                          \
  static __inline__ __host__ __device__ name make_##name(type x, type y) { \
    name v = {x, y};                                                       \
    return v;                                                              \
  }
#define CUPOLA_MAKE_3(name, type)                                                  \
  static __inline__ __host__ __device__ name make_##name(type x, type y, type z) { \
    name v = {x, y, z};                                                            \
    return v;                                                                      \
  }
#define CUPOLA_MAKE_4(name, type)                                                          \
  static __inline__ __host__ __device__ name make_##name(type x, type y, type z, type w) { \
    name v = {x, y, z, w};                                                                 \
    return v;                                                                              \
  }
#define CUPOLA_MAKE(name, type) \
  CUPOLA_MAKE_1(name##1, type)  \
  CUPOLA_MAKE_2(name##2, type)  \
  CUPOLA_MAKE_3(name##3, type)  \
  CUPOLA_MAKE_4(name##4, type)

#if defined(__clang__) || defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

CUPOLA_MAKE(char, signed char)
CUPOLA_MAKE(uchar, unsigned char)
CUPOLA_MAKE(short, short)
CUPOLA_MAKE(ushort, unsigned short)
CUPOLA_MAKE(int, int)
CUPOLA_MAKE(uint, unsigned int)
CUPOLA_MAKE(long, long)
CUPOLA_MAKE(ulong, unsigned long)
CUPOLA_MAKE(longlong, long long)
CUPOLA_MAKE(ulonglong, unsigned long long)
CUPOLA_MAKE(float, float)
CUPOLA_MAKE(double, double)
CUPOLA_MAKE_4(long4_16a, long)
CUPOLA_MAKE_4(long4_32a, long)
CUPOLA_MAKE_4(ulong4_16a, unsigned long)
CUPOLA_MAKE_4(ulong4_32a, unsigned long)
CUPOLA_MAKE_4(longlong4_16a, long long)
CUPOLA_MAKE_4(longlong4_32a, long long)
CUPOLA_MAKE_4(ulonglong4_16a, unsigned long long)
CUPOLA_MAKE_4(ulonglong4_32a, unsigned long long)
CUPOLA_MAKE_4(double4_16a, double)
CUPOLA_MAKE_4(double4_32a, double)

#if defined(__clang__) || defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#undef CUPOLA_MAKE
#undef CUPOLA_MAKE_1
#undef CUPOLA_MAKE_2
#undef CUPOLA_MAKE_3
#undef CUPOLA_MAKE_4
