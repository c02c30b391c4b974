// Included by cuda_fp16.h and cuda_bf16.h after half_type.h, whose macros it uses: what both types compute. Arithmetic,
// comparisons and conversions run on host and device alike, mathematical functions on the device.

// -- arithmetic: each function rounds once; _rn ones are never fused, and nor are these --

/// name of two scalars, and name2 of two pairs.
#define CUPOLA_BINARY(name, name2, ...)                                     \
  CUPOLA_BOTH CUPOLA_H name(CUPOLA_H a, CUPOLA_H b) { return __VA_ARGS__; } \
  CUPOLA_BOTH CUPOLA_H2 name2(CUPOLA_H2 a, CUPOLA_H2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define CUPOLA_UNARY(name, name2, ...)                          \
  CUPOLA_BOTH CUPOLA_H name(CUPOLA_H a) { return __VA_ARGS__; } \
  CUPOLA_BOTH CUPOLA_H2 name2(CUPOLA_H2 a) { return {name(a.x), name(a.y)}; }
#define CUPOLA_TERNARY(name, name2, ...)                                                \
  CUPOLA_BOTH CUPOLA_H name(CUPOLA_H a, CUPOLA_H b, CUPOLA_H c) { return __VA_ARGS__; } \
  CUPOLA_BOTH CUPOLA_H2 name2(CUPOLA_H2 a, CUPOLA_H2 b, CUPOLA_H2 c) {                  \
    return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)};                                  \
  }

namespace cupola {
namespace halves {
/// To [0, 1]; NaN gives +0.
CUPOLA_BOTH CUPOLA_H saturate(CUPOLA_H h) {
  const float x = CUPOLA_VALUE(h);
  return x >= 1 ? CUPOLA_NEAREST(1.0f) : x > 0 ? h : CUPOLA_FROM_BITS(0);
}
CUPOLA_BOTH bool is_nan(CUPOLA_H h) { return (CUPOLA_BITS(h) & 0x7fff) > Format<CUPOLA_FRACTION>::kInfinity; }
CUPOLA_BOTH CUPOLA_H relu(CUPOLA_H h) {
  return CUPOLA_FROM_BITS(is_nan(h) ? 0x7fff : CUPOLA_BITS(h) & 0x8000 ? 0 : CUPOLA_BITS(h));
}
/// The greater, +0 above -0; neither is NaN.
CUPOLA_BOTH CUPOLA_H greater(CUPOLA_H a, CUPOLA_H b) {
  const float x = CUPOLA_VALUE(a), y = CUPOLA_VALUE(b);
  return x == y ? CUPOLA_FROM_BITS(CUPOLA_BITS(a) & CUPOLA_BITS(b)) : x > y ? a : b;
}
CUPOLA_BOTH CUPOLA_H lesser(CUPOLA_H a, CUPOLA_H b) {
  const float x = CUPOLA_VALUE(a), y = CUPOLA_VALUE(b);
  return x == y ? CUPOLA_FROM_BITS(CUPOLA_BITS(a) | CUPOLA_BITS(b)) : x < y ? a : b;
}
}  // namespace halves
}  // namespace cupola

#define CUPOLA_OPERATION(word, sign)                                                           \
  CUPOLA_BINARY(__h##word, __h##word##2, CUPOLA_NEAREST(CUPOLA_VALUE(a) sign CUPOLA_VALUE(b))) \
  CUPOLA_BINARY(__h##word##_rn, __h##word##2_rn, __h##word(a, b))                              \
  CUPOLA_BINARY(__h##word##_sat, __h##word##2_sat, cupola::halves::saturate(__h##word(a, b)))
CUPOLA_OPERATION(add, +)
CUPOLA_OPERATION(sub, -)
CUPOLA_OPERATION(mul, *)
#undef CUPOLA_OPERATION
CUPOLA_BINARY(__hdiv, __h2div, CUPOLA_NEAREST(CUPOLA_VALUE(a) / CUPOLA_VALUE(b)))
CUPOLA_UNARY(__hneg, __hneg2, CUPOLA_FROM_BITS(CUPOLA_BITS(a) ^ 0x8000))
CUPOLA_UNARY(__habs, __habs2, CUPOLA_FROM_BITS(CUPOLA_BITS(a) & 0x7fff))
CUPOLA_TERNARY(__hfma, __hfma2,
               CUPOLA_NEAREST(cupola::halves::multiply_add(CUPOLA_VALUE(a), CUPOLA_VALUE(b), CUPOLA_VALUE(c))))
CUPOLA_TERNARY(__hfma_sat, __hfma2_sat, cupola::halves::saturate(__hfma(a, b, c)))
CUPOLA_TERNARY(__hfma_relu, __hfma2_relu, cupola::halves::relu(__hfma(a, b, c)))
/// a * b + c for complex numbers {real, imaginary}, by two fmas each.
CUPOLA_BOTH CUPOLA_H2 __hcmadd(CUPOLA_H2 a, CUPOLA_H2 b, CUPOLA_H2 c) {
  return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}

// Of a number and NaN the number; the _nan forms give NaN.
#define CUPOLA_EXTREME(name, choose)                                                                   \
  CUPOLA_BINARY(__h##name, __h##name##2,                                                               \
                cupola::halves::is_nan(a)   ? cupola::halves::is_nan(b) ? CUPOLA_FROM_BITS(0x7fff) : b \
                : cupola::halves::is_nan(b) ? a                                                        \
                                            : cupola::halves::choose(a, b))                            \
  CUPOLA_BINARY(__h##name##_nan, __h##name##2_nan,                                                     \
                cupola::halves::is_nan(a) || cupola::halves::is_nan(b) ? CUPOLA_FROM_BITS(0x7fff)      \
                                                                       : cupola::halves::choose(a, b))
CUPOLA_EXTREME(max, greater)
CUPOLA_EXTREME(min, lesser)
#undef CUPOLA_EXTREME

// -- comparison: false where an operand is NaN; the forms with u are true there --

// Of scalars one function a side: nvcc lets a program declare one again for the device alone; clang refuses that for a
// function of both sides.
#if defined(__CUDACC__)
#define CUPOLA_ONE_A_SIDE(...)                                                                               \
  static __host__ __inline__ __attribute__((always_inline, unused)) __VA_ARGS__ static __device__ __inline__ \
      __attribute__((always_inline, unused)) __VA_ARGS__
#else
#define CUPOLA_ONE_A_SIDE(...) CUPOLA_BOTH __VA_ARGS__
#endif

// Of pairs: 1 or 0 in each half, all bits or none in each half (_mask), whether both hold (__hb).
#define CUPOLA_COMPARE(word, ...)                                                                                 \
  CUPOLA_ONE_A_SIDE(bool __h##word(CUPOLA_H a, CUPOLA_H b) {                                                      \
    const float x = CUPOLA_VALUE(a), y = CUPOLA_VALUE(b);                                                         \
    return __VA_ARGS__;                                                                                           \
  })                                                                                                              \
  CUPOLA_BOTH bool __hb##word##2(CUPOLA_H2 a, CUPOLA_H2 b) { return __h##word(a.x, b.x) && __h##word(a.y, b.y); } \
  CUPOLA_BOTH CUPOLA_H2 __h##word##2(CUPOLA_H2 a, CUPOLA_H2 b) {                                                  \
    return {CUPOLA_NEAREST((float)__h##word(a.x, b.x)), CUPOLA_NEAREST((float)__h##word(a.y, b.y))};              \
  }                                                                                                               \
  CUPOLA_BOTH unsigned int __h##word##2_mask(CUPOLA_H2 a, CUPOLA_H2 b) {                                          \
    return (__h##word(a.x, b.x) ? 0xffffu : 0u) | (__h##word(a.y, b.y) ? 0xffff0000u : 0u);                       \
  }
CUPOLA_COMPARE(eq, x == y)
CUPOLA_COMPARE(ne, x<y || x> y)
CUPOLA_COMPARE(lt, x < y)
CUPOLA_COMPARE(le, x <= y)
CUPOLA_COMPARE(gt, x > y)
CUPOLA_COMPARE(ge, x >= y)
CUPOLA_COMPARE(equ, !(x < y || x > y))
CUPOLA_COMPARE(neu, !(x == y))
CUPOLA_COMPARE(ltu, !(x >= y))
CUPOLA_COMPARE(leu, !(x > y))
CUPOLA_COMPARE(gtu, !(x <= y))
CUPOLA_COMPARE(geu, !(x < y))
#undef CUPOLA_COMPARE
#undef CUPOLA_ONE_A_SIDE
CUPOLA_BOTH bool __hisnan(CUPOLA_H a) { return cupola::halves::is_nan(a); }
/// 1 and -1 for the infinities, else 0.
CUPOLA_BOTH int __hisinf(CUPOLA_H a) {
  constexpr unsigned int kInfinity = cupola::halves::Format<CUPOLA_FRACTION>::kInfinity;
  return CUPOLA_BITS(a) == kInfinity ? 1 : CUPOLA_BITS(a) == (kInfinity | 0x8000) ? -1 : 0;
}
CUPOLA_BOTH CUPOLA_H2 __hisnan2(CUPOLA_H2 a) {
  return {CUPOLA_NEAREST((float)__hisnan(a.x)), CUPOLA_NEAREST((float)__hisnan(a.y))};
}

// -- operators --

#define CUPOLA_ASSIGNING(type, sign, function)                                            \
  CUPOLA_BOTH type operator sign(const type& a, const type& b) { return function(a, b); } \
  CUPOLA_BOTH type& operator sign## = (type & a, const type& b) { return a = function(a, b); }
#define CUPOLA_STEPPING(type, sign, function, one)                          \
  CUPOLA_BOTH type& operator sign(type& a) { return a = function(a, one); } \
  CUPOLA_BOTH type operator sign(type& a, int) {                            \
    const type before = a;                                                  \
    a = function(a, one);                                                   \
    return before;                                                          \
  }
#define CUPOLA_COMPARING(type, sign, function) \
  CUPOLA_BOTH bool operator sign(const type& a, const type& b) { return function(a, b); }
#define CUPOLA_ALL_OPERATORS(type, add, sub, mul, div, neg, one, compare, tail) \
  CUPOLA_ASSIGNING(type, +, add)                                                \
  CUPOLA_ASSIGNING(type, -, sub)                                                \
  CUPOLA_ASSIGNING(type, *, mul)                                                \
  CUPOLA_ASSIGNING(type, /, div)                                                \
  CUPOLA_STEPPING(type, ++, add, one)                                           \
  CUPOLA_STEPPING(type, --, sub, one)                                           \
  CUPOLA_BOTH type operator+(const type& a) { return a; }                       \
  CUPOLA_BOTH type operator-(const type& a) { return neg(a); }                  \
  CUPOLA_COMPARING(type, ==, compare##eq##tail)                                 \
  CUPOLA_COMPARING(type, !=, compare##neu##tail)                                \
  CUPOLA_COMPARING(type, <, compare##lt##tail)                                  \
  CUPOLA_COMPARING(type, <=, compare##le##tail)                                 \
  CUPOLA_COMPARING(type, >, compare##gt##tail)                                  \
  CUPOLA_COMPARING(type, >=, compare##ge##tail)
#if CUPOLA_OPERATORS
CUPOLA_ALL_OPERATORS(CUPOLA_H, __hadd, __hsub, __hmul, __hdiv, __hneg, CUPOLA_NEAREST(1.0f), __h, )
#endif
#if CUPOLA_OPERATORS2
CUPOLA_ALL_OPERATORS(CUPOLA_H2, __hadd2, __hsub2, __hmul2, __h2div, __hneg2,
                     (CUPOLA_H2{CUPOLA_NEAREST(1.0f), CUPOLA_NEAREST(1.0f)}), __hb, 2)
#endif
#undef CUPOLA_ALL_OPERATORS
#undef CUPOLA_ASSIGNING
#undef CUPOLA_STEPPING
#undef CUPOLA_COMPARING

#if defined(__CUDA__)
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))

// -- functions: h of a scalar, h2 of a pair --

#define CUPOLA_FUNCTION(name, function)                                                            \
  CUPOLA_DEVICE CUPOLA_H h##name(CUPOLA_H a) { return CUPOLA_NEAREST(function(CUPOLA_VALUE(a))); } \
  CUPOLA_DEVICE CUPOLA_H2 h2##name(CUPOLA_H2 a) { return {h##name(a.x), h##name(a.y)}; }
CUPOLA_FUNCTION(exp, expf)
CUPOLA_FUNCTION(exp2, exp2f)
CUPOLA_FUNCTION(exp10, exp10f)
CUPOLA_FUNCTION(log, logf)
CUPOLA_FUNCTION(log2, log2f)
CUPOLA_FUNCTION(log10, log10f)
CUPOLA_FUNCTION(sin, sinf)
CUPOLA_FUNCTION(cos, cosf)
CUPOLA_FUNCTION(tanh, tanhf)
CUPOLA_FUNCTION(tanh_approx, tanhf)
CUPOLA_FUNCTION(sqrt, sqrtf)
CUPOLA_FUNCTION(rsqrt, rsqrtf)
CUPOLA_FUNCTION(rcp, 1.0f /)
CUPOLA_FUNCTION(floor, floorf)
CUPOLA_FUNCTION(ceil, ceilf)
CUPOLA_FUNCTION(trunc, truncf)
CUPOLA_FUNCTION(rint, rintf)
#undef CUPOLA_FUNCTION

// -- warps, loads and stores, atomics --

#define CUPOLA_SHUFFLE(name, place)                                                                         \
  CUPOLA_DEVICE CUPOLA_H name(unsigned int mask, CUPOLA_H value, place from, int width = 32) {              \
    return CUPOLA_FROM_BITS(name(mask, (unsigned int)CUPOLA_BITS(value), from, width));                     \
  }                                                                                                         \
  CUPOLA_DEVICE CUPOLA_H2 name(unsigned int mask, CUPOLA_H2 value, place from, int width = 32) {            \
    return __builtin_bit_cast(CUPOLA_H2, name(mask, __builtin_bit_cast(unsigned int, value), from, width)); \
  }
CUPOLA_SHUFFLE(__shfl_sync, int)
CUPOLA_SHUFFLE(__shfl_up_sync, unsigned int)
CUPOLA_SHUFFLE(__shfl_down_sync, unsigned int)
CUPOLA_SHUFFLE(__shfl_xor_sync, int)
#undef CUPOLA_SHUFFLE

// As for other types (memory.h), by way of the words that hold them.
#define CUPOLA_LOAD(name, type, word)                                                \
  CUPOLA_DEVICE type name(const type* address) {                                     \
    typedef word __attribute__((may_alias)) Word;                                    \
    return __builtin_bit_cast(type, (word) * (CUPOLA_QUALIFIER const Word*)address); \
  }
#define CUPOLA_STORE(name, type, word)                                  \
  CUPOLA_DEVICE void name(type* address, type value) {                  \
    typedef word __attribute__((may_alias)) Word;                       \
    *(CUPOLA_QUALIFIER Word*)address = __builtin_bit_cast(word, value); \
  }
#define CUPOLA_ACCESS(type, word)  \
  CUPOLA_LOAD(__ldg, type, word)   \
  CUPOLA_LOAD(__ldca, type, word)  \
  CUPOLA_LOAD(__ldcg, type, word)  \
  CUPOLA_LOAD(__ldcs, type, word)  \
  CUPOLA_LOAD(__ldlu, type, word)  \
  CUPOLA_STORE(__stwb, type, word) \
  CUPOLA_STORE(__stcg, type, word) \
  CUPOLA_STORE(__stcs, type, word)
#define CUPOLA_MEMORY_ACCESS(type, word) \
  CUPOLA_LOAD(__ldcv, type, word)        \
  CUPOLA_STORE(__stwt, type, word)
#define CUPOLA_QUALIFIER
CUPOLA_ACCESS(CUPOLA_H, unsigned short)
CUPOLA_ACCESS(CUPOLA_H2, unsigned int)
#undef CUPOLA_QUALIFIER
#define CUPOLA_QUALIFIER volatile
CUPOLA_MEMORY_ACCESS(CUPOLA_H, unsigned short)
CUPOLA_MEMORY_ACCESS(CUPOLA_H2, unsigned int)
#undef CUPOLA_QUALIFIER
#undef CUPOLA_MEMORY_ACCESS
#undef CUPOLA_ACCESS
#undef CUPOLA_LOAD
#undef CUPOLA_STORE

CUPOLA_DEVICE CUPOLA_H atomicAdd(CUPOLA_H* address, CUPOLA_H value) {
  unsigned short* const word = (unsigned short*)address;
  unsigned short seen = CUPOLA_BITS(__ldcv(address)), before;
  do {
    before = seen;
    seen = atomicCAS(word, before, CUPOLA_BITS(__hadd(CUPOLA_FROM_BITS(before), value)));
  } while (seen != before);
  return CUPOLA_FROM_BITS(before);
}
// Each half is atomic, the pair is not.
CUPOLA_DEVICE CUPOLA_H2 atomicAdd(CUPOLA_H2* address, CUPOLA_H2 value) {
  const CUPOLA_H low = atomicAdd(&address->x, value.x);
  return {low, atomicAdd(&address->y, value.y)};
}

#undef CUPOLA_DEVICE
#endif

#undef CUPOLA_UNARY
#undef CUPOLA_BINARY
#undef CUPOLA_TERNARY
#undef CUPOLA_BITS
#undef CUPOLA_FROM_BITS
#undef CUPOLA_VALUE
#undef CUPOLA_NEAREST
#undef CUPOLA_BOTH
#undef CUPOLA_MEMBER
#undef CUPOLA_H
#undef CUPOLA_H2
#undef CUPOLA_RAW
#undef CUPOLA_RAW2
#undef CUPOLA_OTHER
#undef CUPOLA_WORD
#undef CUPOLA_FRACTION
#undef CUPOLA_CONVERSIONS
#undef CUPOLA_OPERATORS
#undef CUPOLA_OPERATORS2
