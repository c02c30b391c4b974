// The functions that have one right answer: integers worked out in 128 bits, bits as they are, and what MPFR rounds, in
// every mode, with the exponent range of the type.

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "exact.h"

namespace cupola::libdevicetest {
namespace {

using i64 = int64_t;
using u64 = uint64_t;
using i128 = __int128;
using Inputs = std::span<const Slot>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Format {
  int digits, least, greatest;  ///< exponents as MPFR counts: the value is 0.1... times 2 to them
};
Format format_of(char letter) {
  if (letter == 'h') return {11, -23, 16};
  return letter == 'f' ? Format{24, -148, 128} : Format{53, -1073, 1024};
}

/// Computes with the type's digits and exponents: `operation` gives MPFR's ternary value.
double within_format(char letter, mpfr_rnd_t rounding, const std::function<int(mpfr_ptr)>& operation) {
  const Format format = format_of(letter);
  Number result(static_cast<mpfr_prec_t>(format.digits));
  const mpfr_exp_t least = mpfr_get_emin(), greatest = mpfr_get_emax();
  mpfr_set_emin(format.least), mpfr_set_emax(format.greatest);
  int ternary = operation(result);
  ternary = mpfr_check_range(result, ternary, rounding);
  mpfr_subnormalize(result, ternary, rounding);
  const double value = mpfr_get_d(result, MPFR_RNDN);
  mpfr_set_emin(least), mpfr_set_emax(greatest);
  return value;
}

mpfr_rnd_t rounding_of(std::string_view name) {
  if (name.ends_with("_rz")) return MPFR_RNDZ;
  if (name.ends_with("_ru")) return MPFR_RNDU;
  return name.ends_with("_rd") ? MPFR_RNDD : MPFR_RNDN;
}

// -- rounded arithmetic --

bool arithmetic(std::string_view operation, char letter, Inputs in, mpfr_rnd_t rounding, double& value) {
  Number x(number_of(letter, in[0])), y(in.size() > 1 ? number_of(letter, in[1]) : 0.0),
      z(in.size() > 2 ? number_of(letter, in[2]) : 0.0);
  value = within_format(letter, rounding, [&](mpfr_ptr r) {
    if (operation == "add") return mpfr_add(r, x, y, rounding);
    if (operation == "sub") return mpfr_sub(r, x, y, rounding);
    if (operation == "mul") return mpfr_mul(r, x, y, rounding);
    if (operation == "div") return mpfr_div(r, x, y, rounding);
    if (operation == "rcp") return mpfr_ui_div(r, 1, x, rounding);
    if (operation == "sqrt") return mpfr_sqrt(r, x, rounding);
    if (operation == "rsqrt") return mpfr_rec_sqrt(r, x, rounding);
    if (operation == "fma") return mpfr_fma(r, x, y, z, rounding);
    mpfr_set_nan(r);
    return 0;
  });
  // MPFR's 1 over -0 is +infinity in both.
  if ((operation == "rcp" || operation == "rsqrt") && mpfr_zero_p(x) && mpfr_signbit(x)) value = -HUGE_VAL;
  return true;
}

/// fadd_rz, dsqrt_ru, fma_rd, fmaf_ieee_rn, frsqrt_rn
bool rounded_arithmetic(const Row& row, Inputs in, Slot& answer) {
  std::string_view name = row.name.substr(0, row.name.rfind('_'));
  const char letter = row.result();
  if (name.starts_with("fma")) {
    name = "fma";
  } else {
    name.remove_prefix(1);
  }
  double value = 0;
  if (!arithmetic(name, letter, in, rounding_of(row.name), value)) return false;
  answer = slot_of(letter, value);
  return true;
}

// -- conversions --

struct Integers {
  i128 least, greatest;
};
Integers integers_of(char letter) {
  if (letter == 'i') return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  if (letter == 'u') return {0, std::numeric_limits<uint32_t>::max()};
  if (letter == 'l') return {std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()};
  return {0, std::numeric_limits<u64>::max()};
}

/// PTX ISA, cvt: rounds, then saturates; NaN is 0 from f32 to 32 bits, else the highest bit.
Slot to_integer(char to, char from, double x, mpfr_rnd_t rounding, bool half_away) {
  const bool wide = to == 'l' || to == 'U';
  if (std::isnan(x)) {
    if (wide) return 1ull << 63;
    return from == 'f' ? 0
           : to == 'i' ? static_cast<Slot>(static_cast<i64>(std::numeric_limits<int>::min()))
                       : 1u << 31;
  }
  const Integers range = integers_of(to);
  if (x >= 0x1p64) return static_cast<Slot>(range.greatest);
  if (x <= -0x1p64) return static_cast<Slot>(range.least);
  Number number(x);
  half_away ? mpfr_round(number, number) : mpfr_rint(number, number, rounding);
  i128 whole = static_cast<i128>(static_cast<u64>(std::fabs(mpfr_get_d(number, MPFR_RNDN)) >= 0x1p64
                                                      ? ~0ull
                                                      : static_cast<u64>(std::fabs(mpfr_get_d(number, MPFR_RNDN)))));
  if (mpfr_sgn(number) < 0) whole = -whole;
  return static_cast<Slot>(std::clamp(whole, range.least, range.greatest));
}

/// double2int_rz, ull2float_rd, double2float_ru, float2half_rn, half2float
bool conversion(const Row& row, Inputs in, Slot& answer) {
  const char from = row.arguments()[0], to = row.result();
  const mpfr_rnd_t rounding = rounding_of(row.name);
  if (from == 'h') {
    const int exponent = in[0] >> 10 & 31;
    const double fraction = static_cast<double>(in[0] & 0x3ff);
    double value = exponent == 31 ? (fraction != 0 ? kNan : HUGE_VAL)
                                  : std::ldexp(exponent ? 1024 + fraction : fraction, std::max(exponent, 1) - 25);
    answer = slot_of('f', in[0] & 0x8000 ? -value : value);
    return true;
  }
  const bool from_floating = from == 'f' || from == 'd', to_floating = to == 'f' || to == 'd' || to == 'h';
  if (from_floating && !to_floating) {
    answer = to_integer(to, from, number_of(from, in[0]), rounding, false);
    return true;
  }
  Number x(from_floating ? number_of(from, in[0]) : 0.0);
  if (!from_floating) {
    if (from == 'i' || from == 'l') mpfr_set_si(x, static_cast<i64>(in[0]), MPFR_RNDN);
    if (from == 'u' || from == 'U') mpfr_set_ui(x, in[0], MPFR_RNDN);
    if (from == 'i') mpfr_set_si(x, static_cast<int32_t>(in[0]), MPFR_RNDN);
  }
  const double value = within_format(to, rounding, [&](mpfr_ptr r) { return mpfr_set(r, x, rounding); });
  if (to != 'h') {
    answer = slot_of(to, value);
    return true;
  }
  // The fields of a half.
  const u64 sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isnan(value))
    answer = 0x7fff;
  else if (std::isinf(value))
    answer = sign | 0x7c00;
  else if (size < 0x1p-14)
    answer = sign | static_cast<u64>(size * 0x1p24);
  else {
    const int exponent = std::ilogb(size);
    answer = sign | static_cast<u64>(exponent + 15) << 10 | (static_cast<u64>(std::ldexp(size, 10 - exponent)) - 1024);
  }
  return true;
}

// -- integers --

u64 reversed(u64 x, int width) {
  u64 result = 0;
  for (int i = 0; i < width; ++i) result |= (x >> i & 1) << (width - 1 - i);
  return result;
}

/// CUDA Math API, Integer Intrinsics. Arguments come as the mathematical values of their types.
bool integer_value(std::string_view name, std::span<const i128> a, i128& value) {
  const auto low = [](i128 x, int bits) { return static_cast<u64>(static_cast<u64>(x) << (64 - bits) >> (64 - bits)); };
  const auto sign_extended = [](u64 x, int bits) { return static_cast<i64>(x << (64 - bits)) >> (64 - bits); };
  const auto halved = [](i128 x) { return x >> 1; };
  if (name == "abs" || name == "llabs")
    value = a[0] < 0 ? -a[0] : a[0];
  else if (name.ends_with("min"))
    value = std::min(a[0], a[1]);
  else if (name.ends_with("max"))
    value = std::max(a[0], a[1]);
  else if (name == "brev")
    value = reversed(low(a[0], 32), 32);
  else if (name == "brevll")
    value = reversed(low(a[0], 64), 64);
  else if (name == "popc" || name == "popcll")
    value = std::popcount(static_cast<u64>(a[0]));
  else if (name == "clz")
    value = std::countl_zero(static_cast<uint32_t>(a[0]));
  else if (name == "clzll")
    value = std::countl_zero(static_cast<u64>(a[0]));
  else if (name == "ffs")
    value = low(a[0], 32) ? std::countr_zero(static_cast<uint32_t>(a[0])) + 1 : 0;
  else if (name == "ffsll")
    value = low(a[0], 64) ? std::countr_zero(static_cast<u64>(a[0])) + 1 : 0;
  else if (name == "mulhi" || name == "umulhi")
    value = a[0] * a[1] >> 32;
  else if (name == "mul64hi")
    value = a[0] * a[1] >> 64;
  else if (name == "umul64hi")
    value = static_cast<i128>(static_cast<unsigned __int128>(a[0]) * static_cast<unsigned __int128>(a[1]) >> 64);
  else if (name == "mul24")
    value = static_cast<i128>(sign_extended(low(a[0], 24), 24)) * sign_extended(low(a[1], 24), 24);
  else if (name == "umul24")
    value = static_cast<i128>(low(a[0], 24)) * low(a[1], 24);
  else if (name == "hadd" || name == "uhadd")
    value = halved(a[0] + a[1]);
  else if (name == "rhadd" || name == "urhadd")
    value = halved(a[0] + a[1] + 1);
  else if (name == "sad" || name == "usad")
    value = a[2] + (a[0] > a[1] ? a[0] - a[1] : a[1] - a[0]);
  else if (name == "byte_perm") {
    value = 0;
    for (int i = 3; i >= 0; --i) {
      const unsigned selector = static_cast<unsigned>(low(a[2], 32) >> 4 * i) & 15;
      const u64 byte = low(a[(selector & 7) / 4], 32) >> 8 * (selector & 3) & 0xff;
      value = value << 8 | static_cast<i128>(selector & 8 ? (byte >> 7) * 0xff : byte);
    }
  } else
    return false;
  return true;
}

bool integer(const Row& row, Inputs in, Slot& answer) {
  std::vector<i128> arguments;
  for (size_t i = 0; i < in.size(); ++i)
    arguments.push_back(row.arguments()[i] == 'i' || row.arguments()[i] == 'l'
                            ? static_cast<i128>(static_cast<i64>(in[i]))
                            : static_cast<i128>(in[i]));
  i128 value = 0;
  if (!integer_value(row.name, arguments, value)) return false;
  if (row.result() == 'i')
    answer = static_cast<Slot>(static_cast<i64>(static_cast<int32_t>(value)));
  else if (row.result() == 'u')
    answer = static_cast<uint32_t>(value);
  else
    answer = static_cast<Slot>(value);
  return true;
}

// -- bits --

bool bits(const Row& row, Inputs in, Slot& answer) {
  const std::string_view oracle = row.oracle;
  const char letter = row.arguments()[0];
  const bool floating = letter == 'f' || letter == 'd';
  const double x = floating ? number_of(letter, in[0]) : 0,
               y = floating && in.size() > 1 ? number_of(letter, in[1]) : 0;
  const auto as_int = [](u64 word) { return static_cast<Slot>(static_cast<i64>(static_cast<int32_t>(word))); };
  if (oracle == "nan")
    answer = slot_of(row.result(), kNan);
  else if (oracle == "copysign") {
    const u64 sign = letter == 'f' ? 1ull << 31 : 1ull << 63;
    answer = (in[0] & ~sign) | (in[1] & sign);
  } else if (oracle == "nextafter") {
    answer = letter == 'f' ? slot_of('f', std::nextafter(static_cast<float>(x), static_cast<float>(y)))
                           : slot_of('d', std::nextafter(x, y));
  } else if (oracle == "signbit")
    answer = std::signbit(x);
  else if (oracle == "isnan")
    answer = std::isnan(x);
  else if (oracle == "isinf")
    answer = std::isinf(x);
  else if (oracle == "isfinite")
    answer = std::isfinite(x);
  else if (oracle == "double2hiint")
    answer = as_int(in[0] >> 32);
  else if (oracle == "double2loint" || oracle == "float_as_int")
    answer = as_int(in[0]);
  else if (oracle == "hiloint2double")
    answer = in[0] << 32 | (in[1] & 0xffffffffu);
  else if (oracle == "int_as_float" || oracle == "uint_as_float" || oracle == "float_as_uint")
    answer = in[0] & 0xffffffffu;
  else if (oracle == "double_as_longlong" || oracle == "longlong_as_double")
    answer = in[0];
  else
    return false;
  return true;
}

// -- exact functions --

double rounded_to(char letter, const std::function<int(mpfr_ptr)>& operation) {
  return within_format(letter, MPFR_RNDN, operation);
}

/// "CUDA Math API, ilogb": INT_MIN for 0 and NaN, INT_MAX for infinities.
int exponent_of(double x) {
  if (x == 0 || std::isnan(x)) return std::numeric_limits<int>::min();
  if (std::isinf(x)) return std::numeric_limits<int>::max();
  return static_cast<int>(mpfr_get_exp(Number(x))) - 1;
}

/// fmin and fmax as IEEE 754-2019 has minimumNumber: a NaN loses, -0 is less than 0.
double least_or_most(bool least, double x, double y) {
  if (std::isnan(x)) return y;
  if (std::isnan(y)) return x;
  if (x == 0 && y == 0) return std::signbit(x) == least ? x : y;
  return (x < y) == least ? x : y;
}

using Whole = int (*)(mpfr_ptr, mpfr_srcptr);
constexpr std::pair<std::string_view, Whole> kWhole[] = {{"floor", mpfr_floor},    {"ceil", mpfr_ceil},
                                                         {"trunc", mpfr_trunc},    {"round", mpfr_round},
                                                         {"rint", mpfr_roundeven}, {"nearbyint", mpfr_roundeven}};

/// The first output.
bool exact_result(const Row& row, Inputs in, Slot& answer) {
  const std::string_view oracle = row.oracle;
  const char letter = row.arguments()[0];
  const bool two = row.arguments().size() > 1 && row.arguments()[1] == letter;
  const double x = number_of(letter, in[0]), y = two ? number_of(letter, in[1]) : 0;
  Number first(x), second(y);
  const auto give = [&](double value) { return answer = slot_of(row.result(), value), true; };
  for (const auto& [name, whole] : kWhole)
    if (oracle == name) return give(rounded_to(letter, [&](mpfr_ptr r) { return whole(r, first); }));
  if (oracle == "fabs") return give(std::signbit(x) ? -x : x);
  if (oracle == "fmin" || oracle == "fmax") return give(least_or_most(oracle == "fmin", x, y));
  if (oracle == "fdim") {
    if (x <= y) return give(0);
    return give(rounded_to(letter, [&](mpfr_ptr r) { return mpfr_sub(r, first, second, MPFR_RNDN); }));
  }
  if (oracle == "fma") {
    double value = 0;
    return arithmetic("fma", letter, in, MPFR_RNDN, value) && give(value);
  }
  if (oracle == "fmod")
    return give(rounded_to(letter, [&](mpfr_ptr r) { return mpfr_fmod(r, first, second, MPFR_RNDN); }));
  if (oracle == "remainder" || oracle == "remquo")
    return give(rounded_to(letter, [&](mpfr_ptr r) { return mpfr_remainder(r, first, second, MPFR_RNDN); }));
  if (oracle == "ldexp" || oracle == "scalbn") {
    const long power = static_cast<int>(in[1]);
    mpfr_mul_2si(first, first, power, MPFR_RNDN);
    return give(rounded_to(letter, [&](mpfr_ptr r) { return mpfr_set(r, first, MPFR_RNDN); }));
  }
  if (oracle == "saturate") return give(x >= 1 ? 1 : x > 0 ? x : 0);
  if (oracle == "logb") return give(std::isnan(x) ? x : std::isinf(x) ? HUGE_VAL : x == 0 ? -HUGE_VAL : exponent_of(x));
  if (oracle == "ilogb") return answer = static_cast<Slot>(static_cast<i64>(exponent_of(x))), true;
  if (oracle == "llrint" || oracle == "llround")
    return answer = to_integer('l', letter, x, MPFR_RNDN, oracle == "llround"), true;
  if (oracle == "frexp") return give(x == 0 || !std::isfinite(x) ? x : std::ldexp(x, -exponent_of(x) - 1));
  if (oracle == "modf") {
    if (std::isinf(x)) return give(std::copysign(0.0, x));
    return give(rounded_to(letter, [&](mpfr_ptr r) { return mpfr_frac(r, first, MPFR_RNDN); }));
  }
  return false;
}

/// What the function stores beside its result.
bool exact_second(const Row& row, Inputs in, Slot& answer) {
  const char letter = row.arguments()[0];
  const double x = number_of(letter, in[0]);
  if (row.oracle == "frexp") {
    answer = static_cast<Slot>(static_cast<i64>(x == 0 || !std::isfinite(x) ? 0 : exponent_of(x) + 1));
    return true;
  }
  if (row.oracle == "modf") return answer = slot_of(letter, std::trunc(x)), true;
  if (row.oracle != "remquo") return false;
  const double y = number_of(letter, in[1]);
  Number rest;
  long quotient = 0;
  if (std::isfinite(x) && !std::isnan(y) && y != 0) mpfr_remquo(rest, &quotient, Number(x), Number(y), MPFR_RNDN);
  answer = static_cast<Slot>(static_cast<i64>(quotient));
  return true;
}

}  // namespace

bool right_answer(const Row& row, std::span<const Slot> inputs, size_t place, Slot& answer) {
  switch (row.family) {
    case Family::Rounded:
      return rounded_arithmetic(row, inputs, answer);
    case Family::Conversion:
      return conversion(row, inputs, answer);
    case Family::Integer:
      return integer(row, inputs, answer);
    case Family::Bits:
      return bits(row, inputs, answer);
    case Family::Exact:
      return place ? exact_second(row, inputs, answer) : exact_result(row, inputs, answer);
    case Family::Fast:
    case Family::Ulps:
      return false;
  }
  return false;
}

bool agrees(const Row& row, std::span<const Slot> inputs, size_t place, Slot got, Slot want) {
  const char letter = output_letters(row)[place];
  if (row.oracle == "remquo" && place == 1) {  // the low 3 bits and the sign; nothing where there is none
    const double x = number_of(row.arguments()[0], inputs[0]), y = number_of(row.arguments()[0], inputs[1]);
    if (!std::isfinite(x) || std::isnan(y) || y == 0) return true;
    const i64 a = static_cast<i64>(got), b = static_cast<i64>(want);
    return std::abs(a) == (std::abs(b) & 7) && (a == 0 || (a < 0) == (b < 0));
  }
  if (got == want) return true;
  return (letter == 'f' || letter == 'd') && (row.family != Family::Bits || row.oracle == "nextafter") &&
         std::isnan(number_of(letter, got)) && std::isnan(number_of(letter, want));
}

}  // namespace cupola::libdevicetest
