#pragma once

// Part of cuda_fp8.h, cuda_fp6.h and cuda_fp4.h: the types, and their pairs and quadruples. Constructors saturate;
// conversions to integers round to zero and saturate.

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "../device_types.h"
#include "half_format.h"

#define CUPOLA_SMALL_FROM(name, format, type) \
  explicit CUPOLA_MEMBER name(type x) : __x((decltype(__x))format::encode(cupola::halves::to_odd(x))) {}
#define CUPOLA_SMALL_TO(type)                                                              \
  explicit CUPOLA_MEMBER operator type() const {                                           \
    return cupola::halves::to_integer<type>((float)*this, cupola::halves::Rounding::Zero); \
  }
/// `format` encodes and decodes; it ignores bits above its own. `shift`: the bits from one number to the next. `wide`
/// is the 16-bit pair to which the pair converts exactly, beside float2, by `to_wide`. CUPOLA_MEMBER is the user's.
#define CUPOLA_SMALL_TYPES(name, pair, quadruple, format, storage_t, pair_t, quadruple_t, shift, wide, to_wide)      \
  struct name {                                                                                                      \
    storage_t __x;                                                                                                   \
    name() = default;                                                                                                \
    explicit CUPOLA_MEMBER name(const __half& x) : name(__half2float(x)) {}                                          \
    explicit CUPOLA_MEMBER name(const __nv_bfloat16& x) : name(__bfloat162float(x)) {}                               \
    CUPOLA_SMALL_FROM(name, format, float)                                                                           \
    CUPOLA_SMALL_FROM(name, format, double)                                                                          \
    CUPOLA_SMALL_FROM(name, format, short)                                                                           \
    CUPOLA_SMALL_FROM(name, format, unsigned short)                                                                  \
    CUPOLA_SMALL_FROM(name, format, int)                                                                             \
    CUPOLA_SMALL_FROM(name, format, unsigned int)                                                                    \
    CUPOLA_SMALL_FROM(name, format, long)                                                                            \
    CUPOLA_SMALL_FROM(name, format, unsigned long)                                                                   \
    CUPOLA_SMALL_FROM(name, format, long long)                                                                       \
    CUPOLA_SMALL_FROM(name, format, unsigned long long)                                                              \
    explicit CUPOLA_MEMBER operator float() const { return format::decode(__x); }                                    \
    explicit CUPOLA_MEMBER operator double() const { return (double)(float)*this; }                                  \
    explicit CUPOLA_MEMBER operator __half() const { return __float2half_rn((float)*this); }                         \
    explicit CUPOLA_MEMBER operator __nv_bfloat16() const { return __float2bfloat16_rn((float)*this); }              \
    explicit CUPOLA_MEMBER operator bool() const { return (float)*this != 0.0f; }                                    \
    CUPOLA_SMALL_TO(char)                                                                                            \
    CUPOLA_SMALL_TO(signed char)                                                                                     \
    CUPOLA_SMALL_TO(unsigned char)                                                                                   \
    CUPOLA_SMALL_TO(short)                                                                                           \
    CUPOLA_SMALL_TO(unsigned short)                                                                                  \
    CUPOLA_SMALL_TO(int)                                                                                             \
    CUPOLA_SMALL_TO(unsigned int)                                                                                    \
    CUPOLA_SMALL_TO(long)                                                                                            \
    CUPOLA_SMALL_TO(unsigned long)                                                                                   \
    CUPOLA_SMALL_TO(long long)                                                                                       \
    CUPOLA_SMALL_TO(unsigned long long)                                                                              \
  };                                                                                                                 \
  struct pair {                                                                                                      \
    pair_t __x;                                                                                                      \
    pair() = default;                                                                                                \
    explicit CUPOLA_MEMBER pair(float2 x) : __x((pair_t)(name(x.x).__x | name(x.y).__x << shift)) {}                 \
    explicit CUPOLA_MEMBER pair(double2 x) : __x((pair_t)(name(x.x).__x | name(x.y).__x << shift)) {}                \
    explicit CUPOLA_MEMBER pair(const __half2& x) : pair(__half22float2(x)) {}                                       \
    explicit CUPOLA_MEMBER pair(const __nv_bfloat162& x) : pair(__bfloat1622float2(x)) {}                            \
    explicit CUPOLA_MEMBER operator float2() const { return {format::decode(__x), format::decode(__x >> shift)}; }   \
    explicit CUPOLA_MEMBER operator wide() const { return to_wide((float2) * this); }                                \
  };                                                                                                                 \
  struct quadruple {                                                                                                 \
    quadruple_t __x;                                                                                                 \
    quadruple() = default;                                                                                           \
    explicit CUPOLA_MEMBER quadruple(float4 x) : quadruple(pair(float2{x.x, x.y}), pair(float2{x.z, x.w})) {}        \
    explicit CUPOLA_MEMBER quadruple(double4 x) : quadruple(pair(double2{x.x, x.y}), pair(double2{x.z, x.w})) {}     \
    explicit CUPOLA_MEMBER quadruple(double4_16a x) : quadruple(pair(double2{x.x, x.y}), pair(double2{x.z, x.w})) {} \
    explicit CUPOLA_MEMBER quadruple(double4_32a x) : quadruple(pair(double2{x.x, x.y}), pair(double2{x.z, x.w})) {} \
    explicit CUPOLA_MEMBER quadruple(const __half2& low, const __half2& high) : quadruple(pair(low), pair(high)) {}  \
    explicit CUPOLA_MEMBER quadruple(const __nv_bfloat162& low, const __nv_bfloat162& high)                          \
        : quadruple(pair(low), pair(high)) {}                                                                        \
    explicit CUPOLA_MEMBER operator float4() const {                                                                 \
      return {format::decode(__x), format::decode(__x >> shift), format::decode(__x >> 2 * shift),                   \
              format::decode(__x >> 3 * shift)};                                                                     \
    }                                                                                                                \
                                                                                                                     \
   private:                                                                                                          \
    CUPOLA_MEMBER quadruple(pair low, pair high)                                                                     \
        : __x((quadruple_t)(low.__x | (unsigned int)high.__x << 2 * shift)) {}                                       \
  };
