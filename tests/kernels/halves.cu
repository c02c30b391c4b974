// The 16-bit floating-point types. Oracle: Table, which knows a format only as the list of its values, decoded with
// ldexp; it rounds by searching the list for the neighbours of an exact value, which is held as the sum of two long
// doubles. Unary functions and conversions see all 65536 values; what also runs on the host is compared there too.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "check.h"

namespace {

enum Mode { kNearest, kZero, kUp, kDown };

/// high + low, |low| at most half an ulp of high.
struct Exact {
  long double high, low = 0;
};
Exact sum(long double a, long double b) {
  const long double high = a + b, part = high - a;
  return {high, std::isfinite(high) ? (a - (high - part)) + (b - part) : 0};
}

/// The values of a format by its number of fraction bits: index is the bit pattern without sign.
class Table {
 public:
  explicit Table(int fraction) : infinity_(0x7fff >> fraction << fraction) {
    const int bias = (1 << (14 - fraction)) - 1;
    for (int i = 0; i <= infinity_; ++i) {  // the last stands for infinity: where the next finite value would be
      const int exponent = i >> fraction, significand = (i & ((1 << fraction) - 1)) | (exponent ? 1 << fraction : 0);
      values_.push_back(std::ldexp(static_cast<long double>(significand), std::max(exponent, 1) - bias - fraction));
    }
  }

  long double decode(unsigned short x) const {
    const int magnitude = x & 0x7fff;
    if (magnitude > infinity_) return NAN;
    const long double value = magnitude == infinity_ ? static_cast<long double>(INFINITY) : values_[magnitude];
    return x & 0x8000 ? -value : value;
  }

  /// NaN is 0x7fff.
  unsigned short round(Exact x, Mode mode = kNearest) const {
    if (std::isnan(x.high)) return 0x7fff;
    const bool negative = std::signbit(x.high);
    const unsigned short sign = negative ? 0x8000 : 0;
    if (negative) x.high = -x.high, x.low = -x.low;
    if (std::isinf(x.high)) return static_cast<unsigned short>(sign | infinity_);
    int below = static_cast<int>(std::upper_bound(values_.begin(), values_.end(), x.high) - values_.begin()) - 1;
    if (values_[below] == x.high && x.low < 0) --below;
    if (values_[below] == x.high && x.low == 0 && below < infinity_) return static_cast<unsigned short>(sign | below);
    bool up = mode == (negative ? kDown : kUp);
    if (below >= infinity_) {
      below = infinity_ - 1, up |= mode == kNearest;
    } else if (mode == kNearest) {
      const long double middle = (values_[below] + values_[below + 1]) / 2, beyond = x.high - middle;
      up = beyond != 0 ? beyond > 0 : x.low != 0 ? x.low > 0 : below % 2;
    }
    return static_cast<unsigned short>(sign | (below + up));
  }

  int infinity() const { return infinity_; }

 private:
  int infinity_;
  std::vector<long double> values_;
};

template <typename H>
struct Of;
template <>
struct Of<__half> {
  using Pair = __half2;
  using Raw = __half_raw;
  static const Table& table() {
    static const Table all(10);
    return all;
  }
};
template <>
struct Of<__nv_bfloat16> {
  using Pair = __nv_bfloat162;
  using Raw = __nv_bfloat16_raw;
  static const Table& table() {
    static const Table all(7);
    return all;
  }
};
template <typename H>
using PairOf = typename Of<H>::Pair;

template <typename H>
__host__ __device__ H make(unsigned short bits) {
  return H(typename Of<H>::Raw{bits});
}
template <typename H>
__host__ __device__ unsigned short bits(H x) {
  return static_cast<typename Of<H>::Raw>(x).x;
}
template <typename H>
long double value(H x) {
  return Of<H>::table().decode(bits(x));
}
template <typename H>
bool same(H got, unsigned short expected) {
  const int infinity = Of<H>::table().infinity();
  return (expected & 0x7fff) > infinity ? (bits(got) & 0x7fff) > infinity : bits(got) == expected;
}

constexpr int kAll = 65536;

/// Runs f(i) for i below count on the device; then, if both, on the host, and calls look(i, result, where) for each.
template <typename Result, typename Function>
__global__ void apply(Function f, Result* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = f(i);
}
template <typename Result, typename Function, typename Look>
void on_device(int count, Function f, Look look) {
  check::Managed<Result> out(count);
  apply<<<(count + 255) / 256, 256>>>(f, static_cast<Result*>(out), count);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) look(i, out[i], "device");
}
template <typename Result, typename Function, typename Look>
void on_both(int count, Function f, Look look) {
  on_device<Result>(count, f, look);
  for (int i = 0; i < count; ++i) look(i, f(i), "host");
}

template <typename H>
void expect(H got, unsigned short expected, const char* what, const char* where, long long index) {
  if (same(got, expected)) return;
  char text[160];
  std::snprintf(text, sizeof text, "%s on the %s [%lld = 0x%llx]: got 0x%04x, expected 0x%04x", what, where, index,
                static_cast<unsigned long long>(index), bits(got), expected);
  check::fail(__FILE__, __LINE__, text);
}

/// The operands of each index, in managed memory.
template <typename H>
struct Inputs {
  const unsigned short* words;  ///< three an index
  __host__ __device__ H a(int i) const { return make<H>(words[3 * i]); }
  __host__ __device__ H b(int i) const { return make<H>(words[3 * i + 1]); }
  __host__ __device__ H c(int i) const { return make<H>(words[3 * i + 2]); }
};

}  // namespace

#define FOR_BOTH_TYPES(function) function<__half>(), function<__nv_bfloat16>()

// -- conversions --

#define TO_INTEGER(type, name)                                      \
  OF_MODE(type, __half2##name##_rn, __bfloat162##name##_rn, rintl)  \
  OF_MODE(type, __half2##name##_rz, __bfloat162##name##_rz, truncl) \
  OF_MODE(type, __half2##name##_ru, __bfloat162##name##_ru, ceill)  \
  OF_MODE(type, __half2##name##_rd, __bfloat162##name##_rd, floorl)
#define INTEGERS                                                   \
  TO_INTEGER(short, short)                                         \
  TO_INTEGER(unsigned short, ushort)                               \
  TO_INTEGER(int, int)                                             \
  TO_INTEGER(unsigned int, uint)                                   \
  TO_INTEGER(long long, ll)                                        \
  TO_INTEGER(unsigned long long, ull)                              \
  OF_MODE(signed char, __half2char_rz, __bfloat162char_rz, truncl) \
  OF_MODE(unsigned char, __half2uchar_rz, __bfloat162uchar_rz, truncl)
#define OF_MODE(type, half, bfloat, rounded)                                         \
  struct Call_##half {                                                               \
    __host__ __device__ type operator()(__half x) const { return half(x); }          \
    __host__ __device__ type operator()(__nv_bfloat16 x) const { return bfloat(x); } \
  };
INTEGERS
#undef OF_MODE

/// Beyond the limits the limit; NaN 0, or 2^63 in 64 bits.
template <typename H, typename Integer, typename Call>
void to_integers(const char* name, Call call, long double (*rounded)(long double)) {
  on_both<Integer>(
      kAll, [=] __host__ __device__(int i) { return call(make<H>(static_cast<unsigned short>(i))); },
      [&](int i, Integer got, const char* where) {
        const long double x = rounded(Of<H>::table().decode(static_cast<unsigned short>(i)));
        Integer expected = sizeof(Integer) == 8 ? static_cast<Integer>(1ull << 63) : 0;
        if (x <= static_cast<long double>(std::numeric_limits<Integer>::min()))
          expected = std::numeric_limits<Integer>::min();
        else if (x >= static_cast<long double>(std::numeric_limits<Integer>::max()))
          expected = std::numeric_limits<Integer>::max();
        else if (!std::isnan(x))
          expected = static_cast<Integer>(x);
        check::equal(got, expected, name, i, where, 0);
      });
}
CASE(to_integers) {
#define OF_MODE(type, half, bfloat, rounded)                \
  to_integers<__half, type>(#half, Call_##half(), rounded); \
  to_integers<__nv_bfloat16, type>(#bfloat, Call_##half(), rounded);
  INTEGERS
#undef OF_MODE
}

CASE(widen) {
  on_both<float>(
      kAll, [] __host__ __device__(int i) { return __half2float(make<__half>(static_cast<unsigned short>(i))); },
      [](int i, float got, const char*) {
        const float x = static_cast<float>(Of<__half>::table().decode(static_cast<unsigned short>(i)));
        if (!std::isnan(x) || !std::isnan(got)) EXPECT_EQUAL_AT(i, got, x);
      });
  on_both<float>(
      kAll,
      [] __host__ __device__(int i) { return __bfloat162float(make<__nv_bfloat16>(static_cast<unsigned short>(i))); },
      [](int i, float got, const char*) {
        const float x = static_cast<float>(Of<__nv_bfloat16>::table().decode(static_cast<unsigned short>(i)));
        if (!std::isnan(x) || !std::isnan(got)) EXPECT_EQUAL_AT(i, got, x);
      });
}

/// Pseudo-random bits (Steele, Lea and Flood's SplitMix).
__host__ __device__ inline unsigned long long scrambled(int i) {
  unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  return x ^ x >> 27;
}
/// Values around those of a format and the middles between them: one of them plus or minus nothing, half a last bit, or
/// a bit far below, up to the given double.
template <typename H>
__host__ __device__ double near_value(int i) {
  const unsigned long long random = scrambled(i);
  const unsigned long long word = __builtin_bit_cast(
      unsigned long long, static_cast<double>(static_cast<float>(make<H>(static_cast<unsigned short>(random)))));
  const unsigned long long quarter = 1ull << (std::is_same_v<H, __half> ? 40 : 43);
  return __builtin_bit_cast(double, word + (random >> 16 & 3) * quarter + (random >> 20 & 3) - 1);
}

#define FROM_FLOAT(suffix, mode)                                                                                    \
  {                                                                                                                 \
    auto call = [] __host__ __device__(int i) {                                                                     \
      const float x = i % 2 ? static_cast<float>(near_value<__half>(i))                                             \
                            : __builtin_bit_cast(float, static_cast<unsigned int>(scrambled(i)));                   \
      return __half2(__float2half##suffix(x), __ushort_as_half(__bfloat16_as_ushort(__float2bfloat16##suffix(x)))); \
    };                                                                                                              \
    on_both<__half2>(200000, call, [](int i, __half2 got, const char* where) {                                      \
      const float x = i % 2 ? static_cast<float>(near_value<__half>(i))                                             \
                            : __builtin_bit_cast(float, static_cast<unsigned int>(scrambled(i)));                   \
      expect(got.x, Of<__half>::table().round({x}, mode), "__float2half" #suffix, where, i);                        \
      expect(make<__nv_bfloat16>(bits(got.y)), Of<__nv_bfloat16>::table().round({x}, mode),                         \
             "__float2bfloat16" #suffix, where, i);                                                                 \
    });                                                                                                             \
  }
CASE(from_float){FROM_FLOAT(, kNearest) FROM_FLOAT(_rn, kNearest) FROM_FLOAT(_rz, kZero) FROM_FLOAT(_ru, kUp)
                     FROM_FLOAT(_rd, kDown)}

CASE(from_double) {
  on_both<__half>(
      300000, [] __host__ __device__(int i) { return __double2half(near_value<__half>(i)); },
      [](int i, __half got, const char* where) {
        expect(got, Of<__half>::table().round({near_value<__half>(i)}), "__double2half", where, i);
      });
  on_both<__nv_bfloat16>(
      300000, [] __host__ __device__(int i) { return __double2bfloat16(near_value<__nv_bfloat16>(i)); },
      [](int i, __nv_bfloat16 got, const char* where) {
        expect(got, Of<__nv_bfloat16>::table().round({near_value<__nv_bfloat16>(i)}), "__double2bfloat16", where, i);
      });
  // Rounding first to float, which makes it a tie, would give 1.
  EXPECT_EQUAL(bits(__double2half(1 + 0x1p-11 + 0x1p-40)), 0x3c01);
  EXPECT_EQUAL(bits(__nv_bfloat16(1 + 0x1p-8 + 0x1p-40)), 0x3f81);
}

/// Integers of every length, half of them a few bits and a last one.
template <typename Integer>
__host__ __device__ Integer some_integer(int i) {
  const unsigned long long random = scrambled(i), shifted = random >> (i % 64);
  return static_cast<Integer>(i & 64 ? shifted : (shifted >> (63 - i % 64) << (63 - i % 64)) + (random & 1));
}
#define FROM_INTEGER_MODE(type, name, mode)                                                                            \
  on_both<__half2>(                                                                                                    \
      50000,                                                                                                           \
      [] __host__ __device__(int i) {                                                                                  \
        const type x = some_integer<type>(i);                                                                          \
        return __half2(__##name##_half(x), __ushort_as_half(__bfloat16_as_ushort(__##name##_bfloat(x))));              \
      },                                                                                                               \
      [](int i, __half2 got, const char* where) {                                                                      \
        const long double x = static_cast<long double>(some_integer<type>(i));                                         \
        expect(got.x, Of<__half>::table().round({x}, mode), #name " to half", where, i);                               \
        expect(make<__nv_bfloat16>(bits(got.y)), Of<__nv_bfloat16>::table().round({x}, mode), #name " to bf16", where, \
               i);                                                                                                     \
      });
#define CALLS(type, name, suffix)                                              \
  __host__ __device__ inline __half __##name##suffix##_half(type x) {          \
    return __##name##2half##suffix(x);                                         \
  }                                                                            \
  __host__ __device__ inline __nv_bfloat16 __##name##suffix##_bfloat(type x) { \
    return __##name##2bfloat16##suffix(x);                                     \
  }
#define FROM_INTEGER(type, name) \
  CALLS(type, name, _rn) CALLS(type, name, _rz) CALLS(type, name, _ru) CALLS(type, name, _rd)
FROM_INTEGER(short, short)
FROM_INTEGER(unsigned short, ushort)
FROM_INTEGER(int, int)
FROM_INTEGER(unsigned int, uint)
FROM_INTEGER(long long, ll)
FROM_INTEGER(unsigned long long, ull)
#undef FROM_INTEGER
#define FROM_INTEGER(type, name)                \
  FROM_INTEGER_MODE(type, name##_rn, kNearest); \
  FROM_INTEGER_MODE(type, name##_rz, kZero);    \
  FROM_INTEGER_MODE(type, name##_ru, kUp);      \
  FROM_INTEGER_MODE(type, name##_rd, kDown)
CASE(from_integers) {
  FROM_INTEGER(short, short);
  FROM_INTEGER(unsigned short, ushort);
  FROM_INTEGER(int, int);
  FROM_INTEGER(unsigned int, uint);
  FROM_INTEGER(long long, ll);
  FROM_INTEGER(unsigned long long, ull);
}

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
      });
template <typename H>
void comparisons(){COMPARED(eq, ==) COMPARED(ne, !=) COMPARED(lt, <) COMPARED(le, <=) COMPARED(gt, >)
                       COMPARED(ge, >=)} CASE(comparisons) {
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
  if (same(got, nearest)) return;
  const unsigned short magnitude = nearest & 0x7fff;
  if (magnitude >= table.infinity() ||
      !(std::fabs(value(got) - exact) <=
        ulps * (table.decode(magnitude) - table.decode(magnitude ? magnitude - 1 : 1))))
    expect(got, nearest, what, "device", i);
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

// -- pairs, operators, constants. Oracle: by hand --

CASE(pairs) {
  const __half2 a = __floats2half2_rn(1, 2), b = __float22half2_rn({3, 4});
  const auto is = [](__half2 got, float low, float high) {
    EXPECT_EQUAL(__low2float(got), low);
    EXPECT_EQUAL(__high2float(got), high);
  };
  is(__lowhigh2highlow(a), 2, 1);
  is(__lows2half2(a, b), 1, 3);
  is(__highs2half2(a, b), 2, 4);
  is(__low2half2(a), 1, 1);
  is(__high2half2(a), 2, 2);
  is(__halves2half2(__low2half(b), __high2half(a)), 3, 2);
  is(__half2half2(__float2half(5)), 5, 5);
  is(__float2half2_rn(6), 6, 6);
  is(make_half2(b.y, b.x), 4, 3);
  EXPECT_EQUAL(__half22float2(b).y, 4);
  const __nv_bfloat162 c = __floats2bfloat162_rn(1, 2), d = __float22bfloat162_rn({3, 4});
  EXPECT_EQUAL(__bfloat1622float2(__lows2bfloat162(c, d)).y, 3);
  EXPECT_EQUAL(__bfloat1622float2(__highs2bfloat162(c, d)).x, 2);
  EXPECT_EQUAL(__bfloat1622float2(__bfloat162bfloat162(d.x)).y, 3);
  EXPECT_EQUAL(__high2float(__halves2bfloat162(d.y, c.x)), 1);
  EXPECT_EQUAL(__low2float(make_bfloat162(d.y, c.x)), 4);
}

template <typename H>
void operators() {
  H x = 3;
  EXPECT_EQUAL(static_cast<float>(x++ + ++x), 8);
  EXPECT_EQUAL(static_cast<int>(x--), 5);
  EXPECT_EQUAL(static_cast<short>(--x), 3);
  x += H(1), x *= H(6), x -= H(4), x /= H(8);
  EXPECT_EQUAL(static_cast<double>(x), 2.5);
  PairOf<H> pair(x, H(1));
  pair = -(++pair * pair) + +pair--;
  EXPECT_EQUAL(static_cast<float>(pair.x), -8.75f);
  EXPECT_EQUAL(static_cast<float>(pair.y), -2);
}
CASE(operators) {
  FOR_BOTH_TYPES(operators);
  EXPECT_EQUAL(static_cast<float>(__half(__nv_bfloat16(1.5f))), 1.5f);
  EXPECT_EQUAL(bits(__nv_bfloat16(__half(1 + 0x1p-8f + 0x1p-9f))), 0x3f81);
  EXPECT_EQUAL(__half2float(CUDART_MAX_NORMAL_FP16), 65504);
  EXPECT_EQUAL(__bfloat162float(CUDART_MIN_DENORM_BF16), 0x1p-133f);
}

// -- warps and memory. Oracle: lane numbers, and sums that both types hold exactly --

template <typename H>
__global__ void exchange(float* out) {
  const int lane = static_cast<int>(threadIdx.x);
  const H x = lane;
  const PairOf<H> pair(x, -x);
  out[8 * lane] = static_cast<float>(__shfl_sync(~0u, x, 3));
  out[8 * lane + 1] = static_cast<float>(__shfl_up_sync(~0u, x, 1));
  out[8 * lane + 2] = static_cast<float>(__shfl_down_sync(~0u, x, 1, 16));
  out[8 * lane + 3] = static_cast<float>(__shfl_xor_sync(~0u, x, 5));
  out[8 * lane + 4] = static_cast<float>(__shfl_sync(~0u, pair, 3).y);
  out[8 * lane + 5] = static_cast<float>(__shfl_up_sync(~0u, pair, 1).y);
  out[8 * lane + 6] = static_cast<float>(__shfl_down_sync(~0u, pair, 1, 16).y);
  out[8 * lane + 7] = static_cast<float>(__shfl_xor_sync(~0u, pair, 5).y);
}
template <typename H>
void shuffles() {
  check::Managed<float> out(256);
  exchange<H><<<1, 32>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int lane = 0; lane < 32; ++lane) {
    const int from[] = {3, lane ? lane - 1 : 0, lane % 16 == 15 ? lane : lane + 1, lane ^ 5};
    for (int i = 0; i < 8; ++i) EXPECT_EQUAL_AT(lane, out[8 * lane + i], i < 4 ? from[i] : -from[i - 4]);
  }
}
CASE(shuffles) {
  FOR_BOTH_TYPES(shuffles);
}

template <typename T>
__global__ void copy_with_hints(const T* in, T* out) {
  __stwb(out, __ldg(in));
  __stcg(out + 1, __ldca(in + 1));
  __stcs(out + 2, __ldcg(in + 2));
  __stwt(out + 3, __ldcs(in + 3));
  __stwb(out + 4, __ldlu(in + 4));
  __stwb(out + 5, __ldcv(in + 5));
}
template <typename T>
void accesses() {
  check::Managed<T> in(6), out(6);
  for (int i = 0; i < 6; ++i) std::memset(&in[i], 'a' + i, sizeof(T));
  copy_with_hints<<<1, 1>>>(static_cast<const T*>(in), static_cast<T*>(out));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT(std::memcmp(&in[0], &out[0], 6 * sizeof(T)) == 0);
}
CASE(accesses) {
  accesses<__half>(), accesses<__half2>(), accesses<__nv_bfloat16>(), accesses<__nv_bfloat162>();
}

template <typename H>
__global__ void add_one(H* sum, PairOf<H>* sums) {
  atomicAdd(sum, H(1));
  atomicAdd(sums, PairOf<H>(H(1), H(-1)));
}
template <typename H>
void additions() {
  check::Managed<H> sum(2);
  check::Managed<PairOf<H>> sums(1);
  add_one<H><<<4, 64>>>(sum + 1, sums);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(static_cast<float>(sum[0]), 0);
  EXPECT_EQUAL(static_cast<float>(sum[1]), 256);
  EXPECT_EQUAL(static_cast<float>(sums[0].x), 256);
  EXPECT_EQUAL(static_cast<float>(sums[0].y), -256);
}
CASE(additions) {
  FOR_BOTH_TYPES(additions);
}

CHECK_MAIN()
