// Arithmetic, comparisons and functions of the 16-bit floating-point types. Oracle: long double arithmetic rounded by
// half_table.h, and the functions of the C library in long double for all 65536 values.

#include "half_table.h"

// -- arithmetic --

constexpr int kTriples = 100000;

/// Triples of bit patterns: any, ones with short fractions (whose sums and products are often ties), and c far below.
template <typename H>
void fill_triples(check::Managed<unsigned short>& words) {
  constexpr unsigned short kShort = std::is_same_v<H, __half> ? 0xffe0 : 0xfff8;
  const Table& table = Of<H>::table();
  for (int i = 0; i < kTriples; ++i) {
    const unsigned long long random = scrambled(i);
    unsigned short* triple = &words[3 * i];
    for (int k = 0; k < 3; ++k) triple[k] = static_cast<unsigned short>(random >> 16 * k);
    if (i % 4 == 1) triple[0] &= kShort, triple[1] |= 1;
    if (i % 4 == 2) triple[2] = static_cast<unsigned short>((random >> 40 & 0x8000) | (random >> 50 & 7));
    if (i % 4 == 3)  // cancels, but for the rounding
      triple[2] = table.round({-table.decode(triple[0]) * table.decode(triple[1])});
  }
}

template <typename H>
unsigned short saturated(unsigned short x) {
  const Table& table = Of<H>::table();
  const long double v = table.decode(x);
  return v >= 1 ? table.round({1}) : v > 0 ? x : 0;
}
template <typename H>
unsigned short rectified(unsigned short x) {
  return std::isnan(Of<H>::table().decode(x)) ? 0x7fff : x & 0x8000 ? 0 : x;
}

// An operation of device and host on a triple, and its exact value of long doubles a, b, c.
#define OPERATION(name, call, pair_call, ...)                                           \
  template <typename H>                                                                 \
  void operation_##name(check::Managed<unsigned short>& words) {                        \
    const Inputs<H> in{words};                                                          \
    on_both<PairOf<H>>(                                                                 \
        kTriples,                                                                       \
        [=] __host__ __device__(int i) {                                                \
          const H a = in.a(i), b = in.b(i), c = in.c(i);                                \
          (void)b, (void)c;                                                             \
          const PairOf<H> a2(a, a), b2(b, b), c2(c, c);                                 \
          (void)b2, (void)c2;                                                           \
          return PairOf<H>(call, pair_call.y);                                          \
        },                                                                              \
        [=](int i, PairOf<H> got, const char* where) {                                  \
          const long double a = value(in.a(i)), b = value(in.b(i)), c = value(in.c(i)); \
          (void)a, (void)b, (void)c;                                                    \
          const auto rounded = [](Exact x) { return Of<H>::table().round(x); };         \
          const unsigned short expected = __VA_ARGS__;                                  \
          expect(got.x, expected, #name, where, i);                                     \
          expect(got.y, expected, #name " of pairs", where, i);                         \
        });                                                                             \
  }
#define OPERATIONS                                                                                          \
  OPERATION(add, __hadd(a, b), __hadd2(a2, b2), rounded(sum(a, b)))                                         \
  OPERATION(sub_rn, __hsub_rn(a, b), __hsub2_rn(a2, b2), rounded(sum(a, -b)))                               \
  OPERATION(mul, a* b, (a2 * b2), rounded({a * b}))                                                         \
  OPERATION(div, a / b, __h2div(a2, b2), rounded({a / b}))                                                  \
  OPERATION(add_sat, __hadd_sat(a, b), __hadd2_sat(a2, b2), saturated<H>(rounded(sum(a, b))))               \
  OPERATION(sub_sat, __hsub_sat(a, b), __hsub2_sat(a2, b2), saturated<H>(rounded(sum(a, -b))))              \
  OPERATION(mul_sat, __hmul_sat(a, b), __hmul2_sat(a2, b2), saturated<H>(rounded({a * b})))                 \
  OPERATION(fma, __hfma(a, b, c), __hfma2(a2, b2, c2), rounded(sum(a* b, c)))                               \
  OPERATION(fma_sat, __hfma_sat(a, b, c), __hfma2_sat(a2, b2, c2), saturated<H>(rounded(sum(a * b, c))))    \
  OPERATION(fma_relu, __hfma_relu(a, b, c), __hfma2_relu(a2, b2, c2), rectified<H>(rounded(sum(a * b, c)))) \
  OPERATION(neg, -a, __hneg2(a2), static_cast<unsigned short>(bits(in.a(i)) ^ 0x8000))                      \
  OPERATION(abs, __habs(a), __habs2(a2), static_cast<unsigned short>(bits(in.a(i)) & 0x7fff))               \
  OPERATION(max, __hmax(a, b), __hmax2(a2, b2),                                                             \
            rounded({a == b                   ? (std::signbit(a) ? b : a)                                   \
                     : std::isnan(a) || b > a ? b                                                           \
                                              : a}))                                                        \
  OPERATION(min, __hmin(a, b), __hmin2(a2, b2),                                                             \
            rounded({a == b                   ? (std::signbit(a) ? a : b)                                   \
                     : std::isnan(a) || b < a ? b                                                           \
                                              : a}))                                                        \
  OPERATION(max_nan, __hmax_nan(a, b), __hmax2_nan(a2, b2),                                                 \
            rounded({std::isnan(a) || std::isnan(b) ? static_cast<long double>(NAN)                         \
                     : a == b                       ? (std::signbit(a) ? b : a)                             \
                                                    : std::max(a, b)}))                                     \
  OPERATION(min_nan, __hmin_nan(a, b), __hmin2_nan(a2, b2),                                                 \
            rounded({std::isnan(a) || std::isnan(b) ? static_cast<long double>(NAN)                         \
                     : a == b                       ? (std::signbit(a) ? a : b)                             \
                                                    : std::min(a, b)}))
OPERATIONS
#undef OPERATION

template <typename H>
void operations() {
  check::Managed<unsigned short> words(3 * kTriples);
  fill_triples<H>(words);
  // NaN, infinities, zeros and ones in every pair.
  const int infinity = Of<H>::table().infinity();
  const int special[] = {0x7fff, infinity, infinity | 0x8000, 0, 0x8000, Of<H>::table().round({1}), 1, infinity - 1};
  for (int i = 0; i < 512; ++i)
    for (int k = 0; k < 3; ++k) words[3 * i + k] = static_cast<unsigned short>(special[i >> 3 * k & 7]);
#define OPERATION(name, ...) operation_##name<H>(words);
  OPERATIONS
#undef OPERATION
}
CASE(arithmetic) {
  FOR_BOTH_TYPES(operations);
}

template <typename H>
void complex_multiply_add() {
  // Oracle: (1 + 2i)(3 - 4i) + (5 + 6i) = 16 + 8i, by hand.
  const auto number = [](float re, float im) {
    return PairOf<H>(make<H>(Of<H>::table().round({re})), make<H>(Of<H>::table().round({im})));
  };
  const PairOf<H> got = __hcmadd(number(1, 2), number(3, -4), number(5, 6));
  EXPECT_EQUAL(static_cast<float>(got.x), 16);
  EXPECT_EQUAL(static_cast<float>(got.y), 8);
}
CASE(complex_multiply_add) {
  FOR_BOTH_TYPES(complex_multiply_add);
}

// -- comparison --

template <typename H>
struct Compared {
  H a, b, c, d;
  PairOf<H> x, y;
  __host__ __device__ explicit Compared(int i)
      : a(pick(i % 8)), b(pick(i / 8 % 8)), c(pick(i / 64 % 8)), d(pick(i / 512)), x(a, c), y(b, d) {}
  /// NaN, -infinity, -1, -0, 0, the least, 1, infinity
  __host__ __device__ static H pick(int i) {
    const float one = 1, infinity = INFINITY;
    switch (i) {
      case 0:
        return make<H>(0x7fff);
      case 1:
        return H(-infinity);
      case 2:
        return H(-one);
      case 3:
        return make<H>(0x8000);
      case 4:
        return make<H>(0);
      case 5:
        return make<H>(1);
      case 6:
        return H(one);
      default:
        return H(infinity);
    }
  }
};
/// A mask of two halves as two bits; 4 if it is none.
__host__ __device__ inline unsigned int halves_of(unsigned int mask) {
  return mask == 0 ? 0 : mask == 0xffffu ? 1 : mask == 0xffff0000u ? 2 : mask == 0xffffffffu ? 3 : 4;
}
/// The same of a pair of ones and zeros.
template <typename Pair>
__host__ __device__ unsigned int ones_of(Pair pair) {
  const float x = static_cast<float>(pair.x), y = static_cast<float>(pair.y);
  return (x == 1 ? 1 : x == 0 ? 0 : 4) | (y == 1 ? 2 : y == 0 ? 0 : 4);
}

// Oracle: the comparison of long doubles, and by hand what NaN gives. Everything of one comparison goes into one
// number.
#define COMPARED(word, sign)                                                                                    \
  on_both<unsigned int>(                                                                                        \
      4096,                                                                                                     \
      [] __host__ __device__(int i) -> unsigned int {                                                           \
        const Compared<H> of(i);                                                                                \
        return __h##word(of.a, of.b) | __h##word##u(of.a, of.b) << 1 | __hb##word##2(of.x, of.y) << 2 |         \
               __hb##word##u2(of.x, of.y) << 3 | (of.a sign of.b) << 4 | (of.x sign of.y) << 5 |                \
               halves_of(__h##word##2_mask(of.x, of.y)) << 6 | halves_of(__h##word##u2_mask(of.x, of.y)) << 9 | \
               ones_of(__h##word##2(of.x, of.y)) << 12 | ones_of(__h##word##u2(of.x, of.y)) << 15;              \
      },                                                                                                        \
      [](int i, unsigned int got, const char* where) {                                                          \
        const Compared<H> of(i);                                                                                \
        const long double a = value(of.a), b = value(of.b), c = value(of.c), d = value(of.d);                   \
        const bool nan = std::isnan(a) || std::isnan(b), nan2 = std::isnan(c) || std::isnan(d);                 \
        const unsigned int o = !nan && a sign b, o2 = !nan2 && c sign d;                                        \
        const unsigned int u = nan || a sign b, u2 = nan2 || c sign d;                                          \
        const bool differs = #word[0] == 'n'; /* != is true of NaN */                                           \
        const unsigned int s = differs ? u : o, s2 = differs ? u2 : o2;                                         \
        const unsigned int pair = o | o2 << 1, pair_u = u | u2 << 1;                                            \
        const unsigned int expected = o | u << 1 | (o & o2) << 2 | (u & u2) << 3 | s << 4 | (s & s2) << 5 |     \
                                      pair << 6 | pair_u << 9 | pair << 12 | pair_u << 15;                      \
        check::equal(got, expected, "h" #word " and its kin", i, where, 0);                                     \
      })
template <typename H>
void comparisons() {
  COMPARED(eq, ==);
  COMPARED(ne, !=);
  COMPARED(lt, <);
  COMPARED(le, <=);
  COMPARED(gt, >);
  COMPARED(ge, >=);
}
CASE(comparisons) {
  FOR_BOTH_TYPES(comparisons);
}

template <typename H>
void classes() {
  on_both<int>(
      kAll,
      [] __host__ __device__(int i) {
        const H x = make<H>(static_cast<unsigned short>(i));
        return __hisinf(x) + 10 * __hisnan(x) + 100 * static_cast<bool>(x);
      },
      [](int i, int got, const char* where) {
        const long double x = Of<H>::table().decode(static_cast<unsigned short>(i));
        const int infinite = std::isinf(x) ? x > 0 ? 1 : -1 : 0;
        check::equal(got, infinite + 10 * std::isnan(x) + 100 * (x != 0), "isinf, isnan, bool", i, where, 0);
      });
}
CASE(classes) {
  FOR_BOTH_TYPES(classes);
}

// -- functions --

// ulps: how far from the exact value, in units of the spacing there; the float function adds little to a half. 0:
// rounded exactly.
#define FUNCTIONS                        \
  FUNCTION(exp, expl(x), 0.501)          \
  FUNCTION(exp2, exp2l(x), 0.501)        \
  FUNCTION(exp10, powl(10, x), 0.501)    \
  FUNCTION(log, logl(x), 0.501)          \
  FUNCTION(log2, log2l(x), 0.501)        \
  FUNCTION(log10, log10l(x), 0.501)      \
  FUNCTION(sin, sinl(x), 0.501)          \
  FUNCTION(cos, cosl(x), 0.501)          \
  FUNCTION(tanh, tanhl(x), 0.501)        \
  FUNCTION(tanh_approx, tanhl(x), 0.501) \
  FUNCTION(rsqrt, 1 / sqrtl(x), 0.501)   \
  FUNCTION(sqrt, sqrtl(x), 0)            \
  FUNCTION(rcp, 1 / x, 0)                \
  FUNCTION(floor, floorl(x), 0)          \
  FUNCTION(ceil, ceill(x), 0)            \
  FUNCTION(trunc, truncl(x), 0)          \
  FUNCTION(rint, rintl(x), 0)

template <typename H>
void expect_near(H got, long double exact, double ulps, const char* what, int i) {
  const Table& table = Of<H>::table();
  const unsigned short nearest = table.round({exact});
  check::record_near(what, std::is_same_v<H, __half> ? "f16" : "bf16", static_cast<double>(value(got)),
                     check::Tolerance::Ulps, ulps);
  if (same(got, nearest)) return;
  const unsigned short magnitude = nearest & 0x7fff;
  if (magnitude >= table.infinity() ||
      !(std::fabs(value(got) - exact) <=
        ulps * (table.decode(magnitude) - table.decode(magnitude ? magnitude - 1 : 1))))
    expect_unrecorded(got, nearest, what, "device", i);
}
template <typename H>
void functions() {
#define FUNCTION(name, reference, ulps)                                              \
  on_device<PairOf<H>>(                                                              \
      kAll,                                                                          \
      [] __device__(int i) {                                                         \
        const H x = make<H>(static_cast<unsigned short>(i));                         \
        return PairOf<H>(h##name(x), h2##name(PairOf<H>(H(make<H>(0)), x)).y);       \
      },                                                                             \
      [](int i, PairOf<H> got, const char*) {                                        \
        const long double x = Of<H>::table().decode(static_cast<unsigned short>(i)); \
        expect_near(got.x, reference, ulps, "h" #name, i);                           \
        expect_near(got.y, reference, ulps, "h2" #name, i);                          \
      });
  FUNCTIONS
#undef FUNCTION
}
CASE(functions) {
  FOR_BOTH_TYPES(functions);
}

CHECK_MAIN()
