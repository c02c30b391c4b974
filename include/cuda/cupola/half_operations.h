// Included by cuda_fp16.h and cuda_bf16.h for each 16-bit type: what both types have. They define
//   CUPOLA_H, CUPOLA_H2   the scalar and the pair
//   CUPOLA_TO(f)          the scalar nearest to a float
//   CUPOLA_FROM(h)        its float
// Arithmetic is done in float and rounded, which gives the nearest result for the four operations; fma goes through
// double.

#define CUPOLA_BOTH static __host__ __device__ __inline__ __attribute__((always_inline, unused))
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))

// -- arithmetic --

#define CUPOLA_OPERATION(name, name2, sign)                                                                   \
  CUPOLA_BOTH CUPOLA_H name(CUPOLA_H a, CUPOLA_H b) { return CUPOLA_TO(CUPOLA_FROM(a) sign CUPOLA_FROM(b)); } \
  CUPOLA_BOTH CUPOLA_H2 name2(CUPOLA_H2 a, CUPOLA_H2 b) { return CUPOLA_H2(name(a.x, b.x), name(a.y, b.y)); } \
  CUPOLA_BOTH CUPOLA_H operator sign(CUPOLA_H a, CUPOLA_H b) { return name(a, b); }                           \
  CUPOLA_BOTH CUPOLA_H& operator sign## = (CUPOLA_H & a, CUPOLA_H b) { return a = name(a, b); }               \
  CUPOLA_BOTH CUPOLA_H2 operator sign(CUPOLA_H2 a, CUPOLA_H2 b) { return name2(a, b); }                       \
  CUPOLA_BOTH CUPOLA_H2& operator sign## = (CUPOLA_H2 & a, CUPOLA_H2 b) { return a = name2(a, b); }
CUPOLA_OPERATION(__hadd, __hadd2, +)
CUPOLA_OPERATION(__hsub, __hsub2, -)
CUPOLA_OPERATION(__hmul, __hmul2, *)
CUPOLA_OPERATION(__hdiv, __h2div, /)
#undef CUPOLA_OPERATION

CUPOLA_BOTH CUPOLA_H __hadd_rn(CUPOLA_H a, CUPOLA_H b) { return __hadd(a, b); }
CUPOLA_BOTH CUPOLA_H __hsub_rn(CUPOLA_H a, CUPOLA_H b) { return __hsub(a, b); }
CUPOLA_BOTH CUPOLA_H __hmul_rn(CUPOLA_H a, CUPOLA_H b) { return __hmul(a, b); }
CUPOLA_BOTH CUPOLA_H __hneg(CUPOLA_H a) { return CUPOLA_TO(-CUPOLA_FROM(a)); }
CUPOLA_BOTH CUPOLA_H __habs(CUPOLA_H a) { return CUPOLA_TO(__builtin_fabsf(CUPOLA_FROM(a))); }
CUPOLA_BOTH CUPOLA_H __hfma(CUPOLA_H a, CUPOLA_H b, CUPOLA_H c) {
  return CUPOLA_TO((float)((double)CUPOLA_FROM(a) * CUPOLA_FROM(b) + CUPOLA_FROM(c)));
}
CUPOLA_BOTH CUPOLA_H2 __hneg2(CUPOLA_H2 a) { return CUPOLA_H2(__hneg(a.x), __hneg(a.y)); }
CUPOLA_BOTH CUPOLA_H2 __habs2(CUPOLA_H2 a) { return CUPOLA_H2(__habs(a.x), __habs(a.y)); }
CUPOLA_BOTH CUPOLA_H2 __hfma2(CUPOLA_H2 a, CUPOLA_H2 b, CUPOLA_H2 c) {
  return CUPOLA_H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
CUPOLA_BOTH CUPOLA_H operator-(CUPOLA_H a) { return __hneg(a); }
CUPOLA_BOTH CUPOLA_H2 operator-(CUPOLA_H2 a) { return __hneg2(a); }

// -- comparison --

#define CUPOLA_COMPARISON(name, sign)                                                          \
  CUPOLA_BOTH bool name(CUPOLA_H a, CUPOLA_H b) { return CUPOLA_FROM(a) sign CUPOLA_FROM(b); } \
  CUPOLA_BOTH bool operator sign(CUPOLA_H a, CUPOLA_H b) { return CUPOLA_FROM(a) sign CUPOLA_FROM(b); }
CUPOLA_COMPARISON(__heq, ==)
CUPOLA_COMPARISON(__hne, !=)
CUPOLA_COMPARISON(__hlt, <)
CUPOLA_COMPARISON(__hle, <=)
CUPOLA_COMPARISON(__hgt, >)
CUPOLA_COMPARISON(__hge, >=)
#undef CUPOLA_COMPARISON
CUPOLA_BOTH bool __hisnan(CUPOLA_H a) { return __builtin_isnan(CUPOLA_FROM(a)); }
CUPOLA_BOTH int __hisinf(CUPOLA_H a) { return __builtin_isinf_sign(CUPOLA_FROM(a)); }
CUPOLA_BOTH CUPOLA_H __hmin(CUPOLA_H a, CUPOLA_H b) {
  return CUPOLA_TO(__builtin_fminf(CUPOLA_FROM(a), CUPOLA_FROM(b)));
}
CUPOLA_BOTH CUPOLA_H __hmax(CUPOLA_H a, CUPOLA_H b) {
  return CUPOLA_TO(__builtin_fmaxf(CUPOLA_FROM(a), CUPOLA_FROM(b)));
}
CUPOLA_BOTH CUPOLA_H2 __hmin2(CUPOLA_H2 a, CUPOLA_H2 b) { return CUPOLA_H2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
CUPOLA_BOTH CUPOLA_H2 __hmax2(CUPOLA_H2 a, CUPOLA_H2 b) { return CUPOLA_H2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }

// -- functions: h of a scalar, h2 of a pair --

#define CUPOLA_FUNCTION(name, function)                                                      \
  CUPOLA_DEVICE CUPOLA_H h##name(CUPOLA_H a) { return CUPOLA_TO(function(CUPOLA_FROM(a))); } \
  CUPOLA_DEVICE CUPOLA_H2 h2##name(CUPOLA_H2 a) { return CUPOLA_H2(h##name(a.x), h##name(a.y)); }
CUPOLA_FUNCTION(exp, expf)
CUPOLA_FUNCTION(exp2, exp2f)
CUPOLA_FUNCTION(exp10, exp10f)
CUPOLA_FUNCTION(log, logf)
CUPOLA_FUNCTION(log2, log2f)
CUPOLA_FUNCTION(log10, log10f)
CUPOLA_FUNCTION(sin, sinf)
CUPOLA_FUNCTION(cos, cosf)
CUPOLA_FUNCTION(tanh, tanhf)
CUPOLA_FUNCTION(sqrt, sqrtf)
CUPOLA_FUNCTION(rsqrt, rsqrtf)
CUPOLA_FUNCTION(rcp, 1.0f /)
CUPOLA_FUNCTION(floor, floorf)
CUPOLA_FUNCTION(ceil, ceilf)
CUPOLA_FUNCTION(trunc, truncf)
CUPOLA_FUNCTION(rint, rintf)
#undef CUPOLA_FUNCTION

// -- warps, loads, atomics --

#define CUPOLA_SHUFFLE(name, place)                                                                         \
  CUPOLA_DEVICE CUPOLA_H name(unsigned int mask, CUPOLA_H value, place from, int width = 32) {              \
    const unsigned int word = __builtin_bit_cast(unsigned short, value);                                    \
    return __builtin_bit_cast(CUPOLA_H, (unsigned short)name(mask, word, from, width));                     \
  }                                                                                                         \
  CUPOLA_DEVICE CUPOLA_H2 name(unsigned int mask, CUPOLA_H2 value, place from, int width = 32) {            \
    return __builtin_bit_cast(CUPOLA_H2, name(mask, __builtin_bit_cast(unsigned int, value), from, width)); \
  }
CUPOLA_SHUFFLE(__shfl_sync, int)
CUPOLA_SHUFFLE(__shfl_up_sync, unsigned int)
CUPOLA_SHUFFLE(__shfl_down_sync, unsigned int)
CUPOLA_SHUFFLE(__shfl_xor_sync, int)
#undef CUPOLA_SHUFFLE

#define CUPOLA_ACCESS(type)                                                  \
  CUPOLA_DEVICE type __ldg(const type* address) { return *address; }         \
  CUPOLA_DEVICE type __ldca(const type* address) { return *address; }        \
  CUPOLA_DEVICE type __ldcg(const type* address) { return *address; }        \
  CUPOLA_DEVICE type __ldcs(const type* address) { return *address; }        \
  CUPOLA_DEVICE void __stcg(type* address, type value) { *address = value; } \
  CUPOLA_DEVICE void __stcs(type* address, type value) { *address = value; }
CUPOLA_ACCESS(CUPOLA_H)
CUPOLA_ACCESS(CUPOLA_H2)
#undef CUPOLA_ACCESS

CUPOLA_DEVICE CUPOLA_H atomicAdd(CUPOLA_H* address, CUPOLA_H value) {
  unsigned short* const word = (unsigned short*)address;
  unsigned short seen = *word, before;
  do {
    before = seen;
    const CUPOLA_H sum = __hadd(__builtin_bit_cast(CUPOLA_H, before), value);
    seen = atomicCAS(word, before, __builtin_bit_cast(unsigned short, sum));
  } while (seen != before);
  return __builtin_bit_cast(CUPOLA_H, before);
}
// Each half is atomic, the pair is not.
CUPOLA_DEVICE CUPOLA_H2 atomicAdd(CUPOLA_H2* address, CUPOLA_H2 value) {
  const CUPOLA_H low = atomicAdd(&address->x, value.x);
  return CUPOLA_H2(low, atomicAdd(&address->y, value.y));
}

#undef CUPOLA_BOTH
#undef CUPOLA_DEVICE
