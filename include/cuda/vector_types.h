#pragma once
#define __VECTOR_TYPES_H__

#include "host_defines.h"

// The built-in vector types: "CUDA C++ Programming Guide, Built-in Vector Types" gives sizes and alignments.

#define CUPOLA_VECTOR_1(name, type) \
  struct name {                     \
    type x;                         \
  };                                \
  typedef struct name name;
#define CUPOLA_VECTOR_2(name, type, alignment) \
  struct __align__(alignment) name {           \
    type x, y;                                 \
  };                                           \
  typedef struct name name;
#define CUPOLA_VECTOR_3(name, type) \
  struct name {                     \
    type x, y, z;                   \
  };                                \
  typedef struct name name;
#define CUPOLA_VECTOR_4(name, type, alignment) \
  struct __align__(alignment) name {           \
    type x, y, z, w;                           \
  };                                           \
  typedef struct name name;

CUPOLA_VECTOR_1(char1, signed char)
CUPOLA_VECTOR_2(char2, signed char, 2)
CUPOLA_VECTOR_3(char3, signed char)
CUPOLA_VECTOR_4(char4, signed char, 4)
CUPOLA_VECTOR_1(uchar1, unsigned char)
CUPOLA_VECTOR_2(uchar2, unsigned char, 2)
CUPOLA_VECTOR_3(uchar3, unsigned char)
CUPOLA_VECTOR_4(uchar4, unsigned char, 4)

CUPOLA_VECTOR_1(short1, short)
CUPOLA_VECTOR_2(short2, short, 4)
CUPOLA_VECTOR_3(short3, short)
CUPOLA_VECTOR_4(short4, short, 8)
CUPOLA_VECTOR_1(ushort1, unsigned short)
CUPOLA_VECTOR_2(ushort2, unsigned short, 4)
CUPOLA_VECTOR_3(ushort3, unsigned short)
CUPOLA_VECTOR_4(ushort4, unsigned short, 8)

CUPOLA_VECTOR_1(int1, int)
CUPOLA_VECTOR_2(int2, int, 8)
CUPOLA_VECTOR_3(int3, int)
CUPOLA_VECTOR_4(int4, int, 16)
CUPOLA_VECTOR_1(uint1, unsigned int)
CUPOLA_VECTOR_2(uint2, unsigned int, 8)
CUPOLA_VECTOR_3(uint3, unsigned int)
CUPOLA_VECTOR_4(uint4, unsigned int, 16)

CUPOLA_VECTOR_1(long1, long)
CUPOLA_VECTOR_2(long2, long, 2 * sizeof(long))
CUPOLA_VECTOR_3(long3, long)
CUPOLA_VECTOR_4(long4, long, 16)
CUPOLA_VECTOR_4(long4_16a, long, 16)
CUPOLA_VECTOR_4(long4_32a, long, 32)
CUPOLA_VECTOR_1(ulong1, unsigned long)
CUPOLA_VECTOR_2(ulong2, unsigned long, 2 * sizeof(unsigned long))
CUPOLA_VECTOR_3(ulong3, unsigned long)
CUPOLA_VECTOR_4(ulong4, unsigned long, 16)
CUPOLA_VECTOR_4(ulong4_16a, unsigned long, 16)
CUPOLA_VECTOR_4(ulong4_32a, unsigned long, 32)

CUPOLA_VECTOR_1(longlong1, long long)
CUPOLA_VECTOR_2(longlong2, long long, 16)
CUPOLA_VECTOR_3(longlong3, long long)
CUPOLA_VECTOR_4(longlong4, long long, 16)
CUPOLA_VECTOR_4(longlong4_16a, long long, 16)
CUPOLA_VECTOR_4(longlong4_32a, long long, 32)
CUPOLA_VECTOR_1(ulonglong1, unsigned long long)
CUPOLA_VECTOR_2(ulonglong2, unsigned long long, 16)
CUPOLA_VECTOR_3(ulonglong3, unsigned long long)
CUPOLA_VECTOR_4(ulonglong4, unsigned long long, 16)
CUPOLA_VECTOR_4(ulonglong4_16a, unsigned long long, 16)
CUPOLA_VECTOR_4(ulonglong4_32a, unsigned long long, 32)

CUPOLA_VECTOR_1(float1, float)
CUPOLA_VECTOR_2(float2, float, 8)
CUPOLA_VECTOR_3(float3, float)
CUPOLA_VECTOR_4(float4, float, 16)

CUPOLA_VECTOR_1(double1, double)
CUPOLA_VECTOR_2(double2, double, 16)
CUPOLA_VECTOR_3(double3, double)
CUPOLA_VECTOR_4(double4, double, 16)
CUPOLA_VECTOR_4(double4_16a, double, 16)
CUPOLA_VECTOR_4(double4_32a, double, 32)

#undef CUPOLA_VECTOR_1
#undef CUPOLA_VECTOR_2
#undef CUPOLA_VECTOR_3
#undef CUPOLA_VECTOR_4

/// A grid's or block's shape; components that are not given are 1.
struct dim3 {
  unsigned int x, y, z;
#if defined(__cplusplus)
#if __cplusplus >= 201103L
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#else
  __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ operator uint3() const {
    uint3 v = {x, y, z};
    return v;
  }
#endif
#endif
};
typedef struct dim3 dim3;
