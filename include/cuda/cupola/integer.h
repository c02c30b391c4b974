#pragma once

// Integer functions that clang's headers express in inline PTX or leave out: "CUDA Math API, Integer Intrinsics".

#pragma push_macro("CUPOLA_DEVICE")
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))

/// The funnel of high:low, shifted; the plain forms take the amount modulo 32, the c forms clamp it at 32.
CUPOLA_DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return __builtin_elementwise_fshl(high, low, shift & 31);
}
CUPOLA_DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return __builtin_elementwise_fshr(high, low, shift & 31);
}
CUPOLA_DEVICE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
CUPOLA_DEVICE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

/// Place of the offset-th bit set in mask, counted from base upwards (offset > 0) or downwards (< 0); all ones if none.
CUPOLA_DEVICE unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  if (offset == 0) return (mask >> (base & 31)) & 1 ? base : 0xffffffffu;
  int left = offset < 0 ? -offset : offset;
  for (int place = (int)base; place >= 0 && place < 32; place += offset < 0 ? -1 : 1)
    if (((mask >> place) & 1) && --left == 0) return (unsigned int)place;
  return 0xffffffffu;
}

// Dot products of packed bytes (dp4a) and of two 16-bit numbers with two bytes (dp2a). PTX has them since sm_61.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 610
#define CUPOLA_DOT(result, bytes, halves, sign)                                                            \
  CUPOLA_DEVICE result __cupola_dp4a(result a, result b, result c) {                                       \
    for (int i = 0; i < 32; i += 8) c += (result)(bytes)(a >> i) * (result)(bytes)(b >> i);                \
    return c;                                                                                              \
  }                                                                                                        \
  CUPOLA_DEVICE result __cupola_dp2a(result a, result b, bool high, result c) {                            \
    if (high) b >>= 16;                                                                                    \
    return c + (result)(halves)a * (result)(bytes)b + (result)(halves)(a >> 16) * (result)(bytes)(b >> 8); \
  }
#else
#define CUPOLA_DOT(result, bytes, halves, sign)                                                               \
  __device__ __attribute__((const)) result __cupola_dp4a(result a, result b,                                  \
                                                         result c) __asm__("llvm.nvvm.idp4a." sign "." sign); \
  __device__ __attribute__((const)) result __cupola_dp2a(result a, result b, bool high,                       \
                                                         result c) __asm__("llvm.nvvm.idp2a." sign "." sign);
#endif
CUPOLA_DOT(int, signed char, short, "s")
CUPOLA_DOT(unsigned int, unsigned char, unsigned short, "u")
#undef CUPOLA_DOT

#define CUPOLA_DOT_FUNCTIONS(result, a4, a2)                                                             \
  CUPOLA_DEVICE result __dp4a(result a, result b, result c) { return __cupola_dp4a(a, b, c); }           \
  CUPOLA_DEVICE result __dp2a_lo(result a, result b, result c) { return __cupola_dp2a(a, b, false, c); } \
  CUPOLA_DEVICE result __dp2a_hi(result a, result b, result c) { return __cupola_dp2a(a, b, true, c); }  \
  CUPOLA_DEVICE result __dp4a(a4 a, a4 b, result c) {                                                    \
    return __dp4a(__builtin_bit_cast(result, a), __builtin_bit_cast(result, b), c);                      \
  }                                                                                                      \
  CUPOLA_DEVICE result __dp2a_lo(a2 a, a4 b, result c) {                                                 \
    return __dp2a_lo(__builtin_bit_cast(result, a), __builtin_bit_cast(result, b), c);                   \
  }                                                                                                      \
  CUPOLA_DEVICE result __dp2a_hi(a2 a, a4 b, result c) {                                                 \
    return __dp2a_hi(__builtin_bit_cast(result, a), __builtin_bit_cast(result, b), c);                   \
  }
CUPOLA_DOT_FUNCTIONS(int, char4, short2)
CUPOLA_DOT_FUNCTIONS(unsigned int, uchar4, ushort2)
#undef CUPOLA_DOT_FUNCTIONS

// Minimum and maximum of three, with and without a floor of zero ("DPX").
#define CUPOLA_DPX_BOTH static __host__ __device__ __inline__ __attribute__((always_inline, unused))
CUPOLA_DPX_BOTH int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
CUPOLA_DPX_BOTH int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
CUPOLA_DPX_BOTH int __vimax3_s32(int a, int b, int c) { return max(max(a, b), c); }
CUPOLA_DPX_BOTH int __vimin3_s32(int a, int b, int c) { return min(min(a, b), c); }
CUPOLA_DPX_BOTH int __vimax3_s32_relu(int a, int b, int c) { return max(max(max(a, b), c), 0); }
CUPOLA_DPX_BOTH int __vimin3_s32_relu(int a, int b, int c) { return max(min(min(a, b), c), 0); }
CUPOLA_DPX_BOTH unsigned int __vimax3_u32(unsigned int a, unsigned int b, unsigned int c) { return max(max(a, b), c); }
CUPOLA_DPX_BOTH unsigned int __vimin3_u32(unsigned int a, unsigned int b, unsigned int c) { return min(min(a, b), c); }
CUPOLA_DPX_BOTH int __viaddmax_s32(int a, int b, int c) { return max((int)((unsigned)a + (unsigned)b), c); }
CUPOLA_DPX_BOTH int __viaddmin_s32(int a, int b, int c) { return min((int)((unsigned)a + (unsigned)b), c); }
CUPOLA_DPX_BOTH unsigned int __viaddmax_u32(unsigned int a, unsigned int b, unsigned int c) { return max(a + b, c); }
CUPOLA_DPX_BOTH unsigned int __viaddmin_u32(unsigned int a, unsigned int b, unsigned int c) { return min(a + b, c); }
#undef CUPOLA_DPX_BOTH

#pragma pop_macro("CUPOLA_DEVICE")
