#include <bit>
#include <cmath>
#include <limits>

#include "cupola/selftest/check.h"

// Oracle: the host's arithmetic, which IEEE 754 fixes to the last bit for these operations, and C's math functions in
// double precision for the others, with the errors that CUDA's Programming Guide allows ("Mathematical Functions").

namespace cupola::tool::selftest {
namespace {

constexpr int kCount = 4096;

/// The same sequence everywhere.
class Bits {
 public:
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545F4914F6CDD1D;
  }

 private:
  uint64_t state_ = 88172645463325252;
};

// Values at which arithmetic goes wrong: zeroes, denormals, the ends of the range, infinities, what is not a number.
constexpr uint32_t kEdges32[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x00800001,
                                 0x3f800000, 0xbf800000, 0x3f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000,
                                 0xff800000, 0x7fc00000, 0x4b800000, 0x00400000};
constexpr uint64_t kEdges64[] = {0,
                                 1ull << 63,
                                 1,
                                 0x800fffffffffffff,
                                 0x0010000000000000,
                                 0x3ff0000000000000,
                                 0xbff0000000000000,
                                 0x3fefffffffffffff,
                                 0x7fefffffffffffff,
                                 0xffefffffffffffff,
                                 0x7ff0000000000000,
                                 0xfff0000000000000,
                                 0x7ff8000000000000,
                                 0x4340000000000000,
                                 0x0008000000000000,
                                 0x00000000ffffffff};

/// Edges with edges first, then one edge with numbers of any bits, then numbers.
template <typename T>
std::vector<T> operands(int which) {
  std::vector<T> all;
  Bits bits;
  for (int skipped = 0; skipped < which * 1000; ++skipped) bits.next();
  for (int i = 0; i < kCount; ++i) {
    const auto any =
        static_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(bits.next() >> (64 - 8 * sizeof(T)));
    const int edge = which == 0 ? i % 16 : which == 1 ? i / 16 % 16 : (i * 7 + i / 256) % 16;
    const bool is_edge = i < 256 || (i < 1024 && i % 3 == which);
    if constexpr (sizeof(T) == 4)
      all.push_back(std::bit_cast<T>(is_edge ? kEdges32[edge] : any));
    else
      all.push_back(std::bit_cast<T>(is_edge ? kEdges64[edge] : any));
  }
  return all;
}

template <typename T>
struct Operands {
  std::vector<T> a = operands<T>(0), b = operands<T>(1), c = operands<T>(2);
};

template <typename T>
Result<std::vector<T>> results(const Session& session, const char* kernel, const Operands<T>& of) {
  TRY(const Memory a, session.upload(of.a));
  TRY(const Memory b, session.upload(of.b));
  TRY(const Memory c, session.upload(of.c));
  TRY(const Memory out, session.zeroes<T>(kCount));
  TRY(session.run(kernel, {{kCount / 128}, {128}}, a.address(), b.address(), c.address(), out.address(), kCount));
  return out.values<T>();
}

template <typename T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

/// One that the device must give to the last bit; what is not a number has any bits.
template <typename T, typename Host>
Result<std::string> exact(const Session& session, const char* kernel, Host host) {
  const Operands<T> of;
  TRY(const std::vector<T> got, results(session, kernel, of));
  int different = 0, first = 0, denormal = 0;
  for (int i = 0; i < kCount; ++i) {
    const T expected = host(of.a[i], of.b[i], of.c[i]);
    if constexpr (std::is_floating_point_v<T>) denormal += std::fpclassify(expected) == FP_SUBNORMAL;
    if (is_nan(expected) ? is_nan(got[i]) : std::memcmp(&got[i], &expected, sizeof(T)) == 0) continue;
    if (different++ == 0) first = i;
  }
  if (different == 0) return denormal ? formatted("{} results, {} of them denormal", kCount, denormal) : "";
  const T expected = host(of.a[first], of.b[first], of.c[first]);
  return fail(ErrorCode::InvalidValue, "{}: {} of {} differ; of {}, {} and {} there is {}, not {}", kernel, different,
              kCount, of.a[first], of.b[first], of.c[first], got[first], expected);
}

/// One with an error of `most` ulp at most, on operands that `host` is defined for.
template <typename Host>
Result<std::string> near(const Session& session, const char* kernel, double low, double high, double most, Host host) {
  Operands<float> of;
  Bits bits;
  for (float& a : of.a) a = static_cast<float>(low + (high - low) * static_cast<double>(bits.next() >> 11) * 0x1p-53);
  for (float& b : of.b) b = static_cast<float>(-8 + 16 * static_cast<double>(bits.next() >> 11) * 0x1p-53);
  TRY(const std::vector<float> got, results(session, kernel, of));
  double worst = 0;
  int at = 0;
  for (int i = 0; i < kCount; ++i) {
    const double expected = host(static_cast<double>(of.a[i]), static_cast<double>(of.b[i]));
    const int exponent = std::max(std::ilogb(expected), -126);
    double error = std::abs(static_cast<double>(got[i]) - expected) / std::ldexp(1.0, exponent - 23);
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (error > worst) worst = error, at = i;
  }
  if (worst <= most) return formatted("{:.2f} ulp at most, {} allowed", worst, most);
  return fail(ErrorCode::InvalidValue, "{}({}, {}) is {}: {:.2f} ulp away, {} allowed", kernel, of.a[at], of.b[at],
              got[at], worst, most);
}

using Word = uint32_t;
using Wide = uint64_t;

#define EXACT(kernel, T, expression)                                                                                   \
  [](const Session& s) {                                                                                               \
    return exact<T>(s, kernel,                                                                                         \
                    []([[maybe_unused]] T a, [[maybe_unused]] T b, [[maybe_unused]] T c) -> T { return expression; }); \
  }
#define NEAR(kernel, low, high, most, expression)                                                 \
  [](const Session& s) {                                                                          \
    return near(s, kernel, low, high, most,                                                       \
                []([[maybe_unused]] double a, [[maybe_unused]] double b) { return expression; }); \
  }

Word reversed(Word x) {
  Word y = 0;
  for (int i = 0; i < 32; ++i) y |= (x >> i & 1) << (31 - i);
  return y;
}

/// Towards zero, with the ends of the range for what is beyond, and 0 for what is no number.
Word int_of(float x) {
  if (std::isnan(x)) return 0;
  if (x >= 0x1p31f) return 0x7fffffff;
  if (x < -0x1p31f) return 0x80000000;
  return static_cast<Word>(static_cast<int>(x));
}

/// Through double: both steps are exact but the last. What is no number is written as one of its bits.
Word half_of(float x) {
  if (std::isnan(x)) return 0x7fff;
  return std::bit_cast<uint16_t>(static_cast<_Float16>(x));
}
Word from_half(Word bits) {
  return std::bit_cast<Word>(static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits))));
}

Result<std::string> halves(const Session& session) {
  Operands<Word> of;
  for (int i = 0; i < kCount; ++i)
    if (std::isnan(std::bit_cast<float>(of.a[i])))
      of.a[i] = 0x38000000u + static_cast<Word>(i) * 77;  // near the least half
  TRY(const std::vector<Word> got, results(session, "u32_to_half", of));
  std::vector<Word> expected;
  for (const Word a : of.a) expected.push_back(half_of(std::bit_cast<float>(a)));
  TRY(expect_same(got, expected, "halves of floats"));
  for (int i = 0; i < kCount; ++i) of.a[i] = static_cast<Word>(i) * 16 + (i & 15);
  for (Word& a : of.a)
    if ((a & 0x7c00) == 0x7c00) a &= 0xfc00;  // infinities
  TRY(const std::vector<Word> back, results(session, "u32_from_half", of));
  expected.clear();
  for (const Word a : of.a) expected.push_back(from_half(a));
  TRY(expect_same(back, expected, "floats of halves"));
  return "";
}

constexpr Check kChecks[] = {
    {"floats/addition", EXACT("f32_add", float, a + b)},
    {"floats/multiplication keeps denormals", EXACT("f32_multiply", float, a* b)},
    {"floats/division rounds correctly", EXACT("f32_divide", float, a / b)},
    {"floats/square root rounds correctly", EXACT("f32_root", float, std::sqrt(a))},
    {"floats/fma rounds once", EXACT("f32_fma", float, std::fma(a, b, c))},
    {"floats/rint", EXACT("f32_rint", float, std::rint(a))},
    {"floats/floor", EXACT("f32_floor", float, std::floor(a))},
    {"floats/sinf", NEAR("f32_sine", -1000, 1000, 2, std::sin(a))},
    {"floats/expf", NEAR("f32_exponential", -80, 80, 2, std::exp(a))},
    {"floats/logf", NEAR("f32_logarithm", 1e-6, 1e6, 1, std::log(a))},
    {"floats/powf", NEAR("f32_power", 0.01, 100, 4, std::pow(a, b))},
    {"doubles/addition", EXACT("f64_add", double, a + b)},
    {"doubles/multiplication", EXACT("f64_multiply", double, a* b)},
    {"doubles/division", EXACT("f64_divide", double, a / b)},
    {"doubles/square root", EXACT("f64_root", double, std::sqrt(a))},
    {"doubles/fma", EXACT("f64_fma", double, std::fma(a, b, c))},
    {"integers/32 bits",
     EXACT("u32_mixed", Word, static_cast<Word>(Wide{a} * b >> 32) ^ (a / (b | 1)) ^ (a % (c | 1)) ^ (b << (c & 31)))},
    {"integers/bits",
     EXACT("u32_bits", Word, static_cast<Word>(std::popcount(a) | std::countl_zero(b) << 8) ^ reversed(c))},
    {"integers/64 bits", EXACT("u64_mixed", Wide, (a * b) ^ (a / (b | 1)) ^ (a >> (c & 63)))},
    {"conversions/float to int", EXACT("u32_to_int", Word, int_of(std::bit_cast<float>(a)))},
    {"conversions/64-bit integers to float", EXACT("u64_to_float", Wide, std::bit_cast<Word>(static_cast<float>(a)))},
    {"conversions/halves", halves},
};

}  // namespace

std::span<const Check> arithmetic_checks() {
  return kChecks;
}

}  // namespace cupola::tool::selftest
