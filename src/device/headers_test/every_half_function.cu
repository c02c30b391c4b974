// Every function and operator that "CUDA Math API" lists for half and bfloat16, once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

/// Functions of one name for both types.
template <typename H, typename H2>
__device__ void every_overload(H* pa, H2* pp, int* pi) {
  H a = pa[0], b = pa[1];
  H2 p = pp[0], q = pp[1];
  int i = 0;
  unsigned u = 0;

#define BINARY(name, name2) a = name(a, b), p = name2(p, q);
#define ARITHMETIC(name) BINARY(__h##name, __h##name##2)
#define WITH_VARIANTS(name) \
  ARITHMETIC(name) BINARY(__h##name##_rn, __h##name##2_rn) BINARY(__h##name##_sat, __h##name##2_sat)
  WITH_VARIANTS(add)
  WITH_VARIANTS(sub)
  WITH_VARIANTS(mul)
  BINARY(__hdiv, __h2div)
  ARITHMETIC(max)
  ARITHMETIC(min)
  BINARY(__hmax_nan, __hmax2_nan)
  BINARY(__hmin_nan, __hmin2_nan)
  a = __hfma(a, b, a), p = __hfma2(p, q, p);
  a = __hfma_sat(a, b, a), p = __hfma2_sat(p, q, p);
  a = __hfma_relu(a, b, a), p = __hfma2_relu(p, q, p);
  p = __hcmadd(p, q, p);
  a = __habs(a), p = __habs2(p);
  a = __hneg(a), p = __hneg2(p);
  p = __lowhigh2highlow(p);

#define COMPARISON(name) \
  i += __h##name(a, b), p = __h##name##2(p, q), i += __hb##name##2(p, q), u += __h##name##2_mask(p, q);
#define ORDERED_OR_NOT(name) COMPARISON(name) COMPARISON(name##u)
  ORDERED_OR_NOT(eq)
  ORDERED_OR_NOT(ne)
  ORDERED_OR_NOT(lt)
  ORDERED_OR_NOT(le)
  ORDERED_OR_NOT(gt)
  ORDERED_OR_NOT(ge)
  i += __hisnan(a) + __hisinf(a), p = __hisnan2(p);

#define MATH(name) a = h##name(a), p = h2##name(p);
  MATH(cos)
  MATH(sin)
  MATH(exp)
  MATH(exp2)
  MATH(exp10)
  MATH(log)
  MATH(log2)
  MATH(log10)
  MATH(rcp)
  MATH(rint)
  MATH(rsqrt)
  MATH(sqrt)
  MATH(ceil)
  MATH(floor)
  MATH(trunc)
  MATH(tanh)
  MATH(tanh_approx)

#define SHUFFLE(name) a = name(~0u, a, 1), p = name(~0u, p, 1, 16);
  SHUFFLE(__shfl_sync)
  SHUFFLE(__shfl_up_sync)
  SHUFFLE(__shfl_down_sync)
  SHUFFLE(__shfl_xor_sync)
#define LOAD(name) a = name(pa), p = name(pp);
  LOAD(__ldg)
  LOAD(__ldca)
  LOAD(__ldcg)
  LOAD(__ldcs)
  LOAD(__ldlu)
  LOAD(__ldcv)
#define STORE(name) name(pa, a), name(pp, p);
  STORE(__stwb)
  STORE(__stcg)
  STORE(__stcs)
  STORE(__stwt)
  a = atomicAdd(pa, a), p = atomicAdd(pp, p);

#define OPERATORS(x, y)           \
  x = x + y - x * y / x;          \
  x += y, x -= y, x *= y, x /= y; \
  ++x, --x, x++, x--;             \
  x = -x;                         \
  i += (x == y) + (x != y) + (x < y) + (x > y) + (x <= y) + (x >= y);
  OPERATORS(a, b)
  OPERATORS(p, q)
  a = +a;
  a = 1, a = 1.5, a = 1.5f, a = 1u, a = 1ll, a = (short)1, a = (long)3;
  i += (int)a;
  if (a) i++;
  pa[2] = a;
  pp[2] = p;
  *pi = i + (int)u;
}

/// Functions whose names hold the type's: h and h2 are those of the number and of the pair.
#define ROUNDED(h, name, type, rounding) \
  a = __##name##2##h##_##rounding((type)i), i += (int)__##h##2##name##_##rounding(a);
#define INTEGER(h, name, type) \
  ROUNDED(h, name, type, rn) ROUNDED(h, name, type, rz) ROUNDED(h, name, type, ru) ROUNDED(h, name, type, rd)
#define EVERY_CONVERSION(h, h2, H, H2)                                          \
  __device__ void every_conversion(H* pa, H2* pp, int* pi) {                    \
    H a = pa[0], b = pa[1];                                                     \
    H2 p = pp[0], q = pp[1];                                                    \
    int i = 0;                                                                  \
    float f = 0;                                                                \
    INTEGER(h, short, short)                                                    \
    INTEGER(h, ushort, unsigned short)                                          \
    INTEGER(h, int, int)                                                        \
    INTEGER(h, uint, unsigned)                                                  \
    INTEGER(h, ll, long long)                                                   \
    INTEGER(h, ull, unsigned long long)                                         \
    i += __##h##2char_rz(a) + __##h##2uchar_rz(a);                              \
    i += __##h##_as_short(a) + __##h##_as_ushort(a);                            \
    a = __short_as_##h((short)i), a = __ushort_as_##h((unsigned short)i);       \
    a = __double2##h(1.5), f += __##h##2float(a), a = __float2##h(f);           \
    a = __float2##h##_rn(f), a = __float2##h##_rz(f);                           \
    a = __float2##h##_ru(f), a = __float2##h##_rd(f);                           \
    p = __float2##h2##_rn(f), p = __floats2##h2##_rn(f, f);                     \
    p = __float22##h2##_rn(make_float2(f, f)), f += __##h2##2float2(p).x;       \
    p = __##h##2##h2(a), p = __halves2##h2(a, b), p = make_##h2(a, b);          \
    f += __low2float(p) + __high2float(p), a = __low2##h(p), a = __high2##h(p); \
    p = __low2##h2(p), p = __high2##h2(p);                                      \
    p = __lows2##h2(p, q), p = __highs2##h2(p, q);                              \
    pa[2] = a;                                                                  \
    pp[2] = p;                                                                  \
    *pi = i + (int)f;                                                           \
  }
EVERY_CONVERSION(half, half2, __half, __half2)
EVERY_CONVERSION(bfloat16, bfloat162, __nv_bfloat16, __nv_bfloat162)

__global__ void every_half(__half* pa, __half2* pp, int* pi) {
  every_overload(pa, pp, pi);
  every_conversion(pa, pp, pi);
}
__global__ void every_bfloat16(__nv_bfloat16* pa, __nv_bfloat162* pp, int* pi) {
  every_overload(pa, pp, pi);
  every_conversion(pa, pp, pi);
}
int main() {}
