// Arithmetic of doubles on their bits, for GPUs that have none: IEEE 754-2019 "binary64", rounded to nearest even,
// exact for denormals, infinities and signed zeros. NaNs that are made here are quiet. Integers of 32 and 64 bits only,
// no memory: pure functions, which src/backend/metal/build/raise/soften_doubles.cpp calls. lib/cupola/metal.bc holds
// them.
//
// A significand in computation has its leading one at bit 62, so that ten bits lie below the last place of the result:
// all but the lowest are exact, and the lowest is set where anything below it is not zero ("sticky"). An exponent is as
// stored, with a bias of 1023, but of any size.

#define DEVICE __attribute__((device))
/// A function that stays one: a GPU has one copy of it.
#define SOFT extern "C" DEVICE __attribute__((noinline))
/// A function that becomes part of its callers.
#define SHORT extern "C" DEVICE __attribute__((always_inline))
#define LOCAL static inline DEVICE __attribute__((always_inline))

namespace {

using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

constexpr u64 kSign = 1ull << 63, kSize = kSign - 1, kInfinity = 0x7ffull << 52, kNan = 0xfffull << 51;
constexpr u64 kQuiet = 1ull << 51, kHidden = 1ull << 52, kFraction = kHidden - 1, kOne = 0x3ffull << 52;

LOCAL int leading_zeros(u64 x) {
  return __builtin_clzll(x);
}
LOCAL int least(int a, int b) {
  return a < b ? a : b;
}
LOCAL int most(int a, int b) {
  return a > b ? a : b;
}
LOCAL u64 size_of(u64 x) {
  return x & kSize;
}
LOCAL bool is_nan(u64 x) {
  return size_of(x) > kInfinity;
}
LOCAL u64 quiet(u64 x) {
  return is_nan(x) ? x | kQuiet : x;
}

/// x >> distance, sticky; 0 <= distance < 64.
LOCAL u64 shifted(u64 x, int distance) {
  const u64 kept = x >> distance;
  return kept | (kept << distance != x);
}

/// Rounds a significand and packs it. Below the leading bit 62 the exponent is 1, and the number denormal.
LOCAL u64 packed_normal(u64 sign, int exponent, u64 significand) {
  const u64 rounded = (significand + 0x1ff + (significand >> 10 & 1)) >> 10;  // a carry goes into the exponent
  return sign | (exponent >= 0x7ff ? kInfinity : ((u64)(exponent - 1) << 52) + rounded);
}
LOCAL u64 packed(u64 sign, int exponent, u64 significand) {
  const int below = exponent < 1 ? 1 - exponent : 0;
  return packed_normal(sign, exponent + below, shifted(significand, least(below, 63)));
}

/// size = significand * 2^(exponent - 1075), the significand's leading one at bit 52. Finite, not 0.
struct Number {
  u64 significand;
  int exponent;
};
LOCAL Number normalised(u64 size) {
  const int field = (int)(size >> 52), shift = leading_zeros(size) - 11;
  return field ? Number{(size & kFraction) | kHidden, field} : Number{size << shift, 1 - shift};
}

struct Product {
  u64 high, low;
};
LOCAL Product product(u64 a, u64 b) {
  const u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
  const u64 low = a0 * b0, first = a1 * b0 + (low >> 32), second = a0 * b1 + (u32)first;
  return {a1 * b1 + (first >> 32) + (second >> 32), second << 32 | (u32)low};
}

LOCAL u32 high(u32 a, u32 b) {
  return (u32)((u64)a * b >> 32);
}

}  // namespace

// -- arithmetic --

SOFT u64 cupola_f64_add(u64 a, u64 b) {
  const bool swap = size_of(a) < size_of(b);
  const u64 large = swap ? b : a, small = swap ? a : b, x = size_of(large), y = size_of(small);
  const bool same = !((a ^ b) & kSign);
  if (x >= kInfinity) return x > kInfinity || (y == kInfinity && !same) ? kNan : large;
  const int above = (int)(x >> 52), below = (int)(y >> 52), exponent = most(above, 1);
  const u64 p = ((x & kFraction) | (above ? kHidden : 0)) << 9;  // bit 61: a sum may carry
  const u64 q = shifted(((y & kFraction) | (below ? kHidden : 0)) << 9, least(exponent - most(below, 1), 63));
  const u64 sum = same ? p + q : p - q;
  if (sum == 0) return a & b & kSign;
  const int shift = least(leading_zeros(sum) - 1, exponent);
  return packed_normal(large & kSign, exponent + 1 - shift, sum << shift);
}

SOFT u64 cupola_f64_mul(u64 a, u64 b) {
  const u64 sign = (a ^ b) & kSign, x = size_of(a), y = size_of(b);
  if (x >= kInfinity || y >= kInfinity)
    return x > kInfinity || y > kInfinity || x == 0 || y == 0 ? kNan : sign | kInfinity;
  if (x == 0 || y == 0) return sign;
  const Number left = normalised(x), right = normalised(y);
  const Product all = product(left.significand << 10, right.significand << 11);  // from 2^125 on
  const u64 significand = all.high | (all.low != 0);
  const int low = (int)(~significand >> 62 & 1);
  return packed(sign, left.exponent + right.exponent - 1022 - low, significand << low);
}

/// Newton's iteration for the reciprocal in 32 and 64 bits, always from below; the remainder decides the last bit.
SOFT u64 cupola_f64_div(u64 a, u64 b) {
  const u64 sign = (a ^ b) & kSign, x = size_of(a), y = size_of(b);
  if (x > kInfinity || y > kInfinity || (x == y && (x == 0 || x == kInfinity))) return kNan;
  if (x == kInfinity || y == 0) return sign | kInfinity;
  if (x == 0 || y == kInfinity) return sign;
  const Number left = normalised(x), right = normalised(y);
  const u64 divisor = right.significand << 11;
  const u32 top = (u32)(divisor >> 32);
  u32 inverse = (u32)(0x169696969ull - high(top, 0xf0f0f0f0));  // 2^63 / top, within 1/17
  for (int i = 0; i < 3; ++i) inverse = (u32)((u64)inverse * (u32)~high(inverse, top) >> 31);
  const i64 lack = (i64)(kSign - ((u64)inverse * top + ((u64)inverse * (u32)divisor >> 32)));
  const u64 fine = ((u64)inverse << 32) + (u64)((i64)inverse * (lack >> 4) >> 27);  // 2^127 / divisor

  const int less = left.significand < right.significand;
  const u64 dividend = left.significand << less;
  u64 quotient = (product(dividend << 10, fine).high - 2) >> 8;  // from 2^54 on; may lack 1
  u64 rest = (dividend << 54) - quotient * right.significand;
  const bool more = rest >= right.significand;
  quotient += more;
  rest -= more ? right.significand : 0;
  return packed(sign, left.exponent - right.exponent + 1023 - less, quotient << 8 | (rest != 0));
}

/// Newton's iteration for the inverse root in 32 bits, one step of the root in 64; the remainder decides the last bit.
SOFT u64 cupola_f64_sqrt(u64 a) {
  if (a == kSign || a == 0) return a;
  if (a > kInfinity) return kNan;
  if (a == kInfinity) return a;
  const Number x = normalised(a);
  const int odd = ~x.exponent & 1;
  const u64 square = x.significand << 10 << odd;  // from 2^62 on
  const u64 top = square >> 32;
  // 1/sqrt of 1 to 2, times 2^31, within 3 in a hundred; behind it sqrt(1/2).
  u32 inverse = 0xa3126e98 - high((u32)(x.significand >> 21), 0x4b000000);
  inverse = odd ? high(inverse, 0xb504f334) : inverse;
  for (int i = 0; i < 3; ++i) {
    const u64 one = ((u64)inverse * inverse >> 31) * top >> 30;
    inverse = (u32)((u64)inverse * ((0x180000000ull - one) >> 1) >> 31);
  }
  const u64 coarse = (top * inverse + ((u64)(u32)square * inverse >> 32)) >> 30;
  const i64 lack = (i64)(square - coarse * coarse);
  const u64 fine = (coarse << 31) + (u64)((lack >> 5) * (i64)inverse >> 27) - 128;
  u64 root = fine >> 8;  // from 2^54 on; may lack 1
  i64 rest = (i64)((square << 46) - root * root);
  const bool more = rest > (i64)(2 * root);
  rest -= more ? (i64)(2 * root + 1) : 0;
  root += more;
  return packed_normal(0, ((x.exponent - 1023 - odd) >> 1) + 1023, root << 8 | (rest != 0));
}

SOFT u64 cupola_f64_fma(u64 a, u64 b, u64 c) {
  const u64 x = size_of(a), y = size_of(b), z = size_of(c);
  u64 sign = (a ^ b) & kSign;
  const bool same = sign == (c & kSign);
  if (x >= kInfinity || y >= kInfinity || z >= kInfinity) {
    if (x > kInfinity || y > kInfinity || z > kInfinity) return kNan;
    const bool infinite = x == kInfinity || y == kInfinity;
    if (infinite && (x == 0 || y == 0 || (z == kInfinity && !same))) return kNan;
    return infinite ? sign | kInfinity : c;
  }
  if (x == 0 || y == 0) return z == 0 && !same ? 0 : c;
  // Products and addends of 128 bits; 1 is 2^124.
  const Number left = normalised(x), right = normalised(y), addend = normalised(z | (z == 0));
  Product p = product(left.significand << 10, right.significand << 10), q = {z ? addend.significand << 8 : 0, 0};
  const int of_product = left.exponent + right.exponent - 1023;
  const int distance = z ? of_product - addend.exponent : 0;
  const bool product_is_below = distance < 0;
  Product small = product_is_below ? p : q;
  Product large = product_is_below ? q : p;
  const int gap = least(product_is_below ? -distance : distance, 127), part = gap & 63;
  small = gap >= 64 ? Product{0, small.high} : small;  // what is lost of it matters no more: its leading one is not
  const u64 crossing = small.high << 1 << (63 - part);
  const u64 low = small.low >> part;
  small = {small.high >> part, low | crossing | (low << part != small.low)};

  // Their sum, or their difference as a number of two's complement.
  const u64 flip = same ? 0 : ~0ull;
  const u64 without_carry = large.low + (small.low ^ flip), with_carry = without_carry + (flip & 1);
  Product sum = {large.high + (small.high ^ flip) + (without_carry < large.low) + (with_carry < without_carry),
                 with_carry};
  if ((sum.high | sum.low) == 0) return 0;
  const bool negative = sum.high >> 63;
  sum.low = negative ? 0 - sum.low : sum.low;
  sum.high = negative ? ~sum.high + (sum.low == 0) : sum.high;
  sign ^= !same && negative != product_is_below ? kSign : 0;
  int exponent = (product_is_below ? addend.exponent : of_product) + 2;
  if (sum.high == 0) sum = {sum.low >> 1, 0}, exponent -= 63;  // what cancels so far has even bits
  const int shift = leading_zeros(sum.high) - 1;
  const u64 significand = sum.high << shift | sum.low >> 1 >> (63 - shift);
  return packed(sign, exponent - shift, significand | (sum.low << shift != 0));
}

/// fmod: exact, a step for each binary place by which the two differ.
SOFT u64 cupola_f64_rem(u64 a, u64 b) {
  const u64 x = size_of(a), y = size_of(b);
  if (x >= kInfinity || y > kInfinity || y == 0) return kNan;
  if (x < y) return a;
  const Number left = normalised(x), right = normalised(y);
  u64 rest = left.significand;
  for (int places = left.exponent - right.exponent; places > 0; --places)
    rest = (rest >= right.significand ? rest - right.significand : rest) << 1;
  rest = rest >= right.significand ? rest - right.significand : rest;
  if (rest == 0) return a & kSign;
  const int shift = least(leading_zeros(rest) - 11, most(right.exponent, 1) - 1);
  const int exponent = right.exponent - shift;  // below 1 where the divisor is denormal: a multiple of the least number
  return (a & kSign) | (exponent < 1 ? rest >> (1 - exponent) : ((u64)(exponent - 1) << 52) + (rest << shift));
}

// -- comparisons --

namespace {
/// Orders as numbers do, zeros of both signs as one.
LOCAL i64 order(u64 x) {
  const i64 sign = (i64)x >> 63;
  return ((i64)size_of(x) ^ sign) - sign;
}
/// Orders -0 before +0.
LOCAL i64 strict_order(u64 x) {
  return (i64)(x ^ ((u64)((i64)x >> 63) >> 1));
}
}  // namespace

SHORT bool cupola_f64_unordered(u64 a, u64 b) {
  return is_nan(a) || is_nan(b);
}
SHORT bool cupola_f64_equal(u64 a, u64 b) {
  return order(a) == order(b) && !is_nan(a) && !is_nan(b);
}
SHORT bool cupola_f64_different(u64 a, u64 b) {
  return order(a) != order(b) && !is_nan(a) && !is_nan(b);
}
SHORT bool cupola_f64_less(u64 a, u64 b) {
  return order(a) < order(b) && !is_nan(a) && !is_nan(b);
}
SHORT bool cupola_f64_less_equal(u64 a, u64 b) {
  return order(a) <= order(b) && !is_nan(a) && !is_nan(b);
}

/// A NaN gives way to a number.
SOFT u64 cupola_f64_minimumnum(u64 a, u64 b) {
  const u64 less = strict_order(a) < strict_order(b) ? a : b;
  return quiet(is_nan(a) ? b : is_nan(b) ? a : less);
}
SOFT u64 cupola_f64_maximumnum(u64 a, u64 b) {
  const u64 more = strict_order(a) < strict_order(b) ? b : a;
  return quiet(is_nan(a) ? b : is_nan(b) ? a : more);
}
SOFT u64 cupola_f64_minimum(u64 a, u64 b) {
  return is_nan(a) || is_nan(b) ? kNan : strict_order(a) < strict_order(b) ? a : b;
}
SOFT u64 cupola_f64_maximum(u64 a, u64 b) {
  return is_nan(a) || is_nan(b) ? kNan : strict_order(a) < strict_order(b) ? b : a;
}

/// The one bit of llvm.is.fpclass that tells what x is.
SOFT u32 cupola_f64_class(u64 x) {
  const u64 size = size_of(x);
  if (size > kInfinity) return size & kQuiet ? 2 : 1;
  const int kind = size == kInfinity ? 0 : size >= kHidden ? 1 : size != 0 ? 2 : 3;
  return x & kSign ? 4u << kind : 512u >> kind;
}

// -- integers; what is out of range gives some number --

SOFT u64 cupola_f64_from_u64(u64 x) {
  if (x == 0) return 0;
  const int shift = leading_zeros(x);
  return packed_normal(0, 1023 + 63 - shift, shifted(x << shift, 1));
}
SOFT u64 cupola_f64_from_i64(u64 x) {
  if (x == 0) return 0;
  const u64 sign = x & kSign, size = sign ? 0 - x : x;
  const int shift = leading_zeros(size);
  return packed_normal(sign, 1023 + 63 - shift, shifted(size << shift, 1));
}
/// Of up to 53 bits: exact.
SOFT u64 cupola_f64_from_u32(u32 x) {
  const int shift = leading_zeros(x) - 11;
  return x ? ((u64)(1023 + 51 - shift) << 52) + ((u64)x << shift) : 0;
}
SOFT u64 cupola_f64_from_i32(u32 x) {
  const u64 sign = (u64)(x >> 31) << 63;
  const u64 size = sign ? 0u - x : x;
  const int shift = leading_zeros(size) - 11;
  return x ? sign | (((u64)(1023 + 51 - shift) << 52) + (size << shift)) : 0;
}
SOFT u64 cupola_f64_to_u64(u64 x) {
  const int exponent = (int)(size_of(x) >> 52) - 1023;
  const u64 significand = ((x & kFraction) | kHidden) << 11;
  return exponent < 0 ? 0 : significand >> (63 - least(exponent, 63));
}
SOFT u64 cupola_f64_to_i64(u64 x) {
  const int exponent = (int)(size_of(x) >> 52) - 1023;
  const u64 significand = ((x & kFraction) | kHidden) << 11;
  const u64 size = exponent < 0 ? 0 : significand >> (63 - least(exponent, 63));
  return x & kSign ? 0 - size : size;
}

// -- other formats, by their bits --

namespace {
/// To a number with `places` of a fraction, of `width` bits.
template <int places, int width>
LOCAL u32 narrowed(u64 x) {
  constexpr int kBias = (1 << (width - places - 2)) - 1, kAll = 2 * kBias + 1;
  constexpr u32 kMost = (u32)kAll << places;
  const u32 sign = (u32)(x >> 63) << (width - 1);
  const u64 size = size_of(x);
  if (size >= kInfinity) {
    const u32 payload = (u32)((size & kFraction) >> (52 - places)) | 1u << (places - 1);
    return sign | kMost | (size > kInfinity ? payload : 0);
  }
  const int exponent = (int)(size >> 52) - 1023 + kBias, below = exponent < 1 ? 1 - exponent : 0;
  const u64 significand = (size & kFraction) | (size >= kHidden ? kHidden : 0);  // far below all but zero if denormal
  const u64 kept = shifted(significand << 10, least(below, 63));                 // the leading one at bit 62
  constexpr int kDrop = 62 - places;
  const u64 rounded = (kept + ((1ull << (kDrop - 1)) - 1) + (kept >> kDrop & 1)) >> kDrop;
  return sign | (exponent >= kAll ? kMost : ((u32)(exponent + below - 1) << places) + (u32)rounded);
}
template <int places, int width>
LOCAL u64 widened(u32 x) {
  constexpr int kBias = (1 << (width - places - 2)) - 1, kAll = 2 * kBias + 1;
  const u64 sign = (u64)(x >> (width - 1)) << 63, size = x & ((1u << (width - 1)) - 1);
  const int field = (int)(size >> places), shift = leading_zeros(size) - (63 - places);
  if (field == kAll) return quiet(sign | kInfinity | (size << (52 - places) & kFraction));
  if (field == 0 && size == 0) return sign;
  const u64 significand = field ? size & ((1ull << places) - 1) : size << shift & ((1ull << places) - 1);
  return sign | (u64)((field ? field : 1 - shift) - kBias + 1023) << 52 | significand << (52 - places);
}
}  // namespace

SOFT u32 cupola_f64_to_f32(u64 x) {
  return narrowed<23, 32>(x);
}
SOFT u32 cupola_f64_to_f16(u64 x) {
  return narrowed<10, 16>(x);
}
SOFT u32 cupola_f64_to_bf16(u64 x) {
  return narrowed<7, 16>(x);
}
SOFT u64 cupola_f64_from_f32(u32 x) {
  return widened<23, 32>(x);
}
SOFT u64 cupola_f64_from_f16(u32 x) {
  return widened<10, 16>(x);
}
SOFT u64 cupola_f64_from_bf16(u32 x) {
  return widened<7, 16>(x);
}

// -- whole numbers --

namespace {
/// The bits that are worth less than 1, of 1 <= |x| < 2^52.
LOCAL u64 below_one(int exponent) {
  return kFraction >> exponent;
}
LOCAL int exponent_of(u64 x) {
  return (int)(size_of(x) >> 52) - 1023;
}
}  // namespace

SOFT u64 cupola_f64_trunc(u64 x) {
  const int exponent = exponent_of(x);
  if (exponent >= 52) return quiet(x);
  return exponent < 0 ? x & kSign : x & ~below_one(exponent);
}
SOFT u64 cupola_f64_floor(u64 x) {
  const int exponent = exponent_of(x);
  if (exponent >= 52) return quiet(x);
  if (exponent < 0) return x > kSign ? kSign | kOne : x & kSign;
  const u64 below = below_one(exponent);
  return (x + (x & kSign ? below : 0)) & ~below;
}
SOFT u64 cupola_f64_ceil(u64 x) {
  const int exponent = exponent_of(x);
  if (exponent >= 52) return quiet(x);
  if (exponent < 0) return x - 1 < kSign - 1 ? kOne : x & kSign;
  const u64 below = below_one(exponent);
  return (x + (x & kSign ? 0 : below)) & ~below;
}
/// Halves to even. The exponent's last bit is the hidden one, where that is worth 1.
SOFT u64 cupola_f64_rint(u64 x) {
  const int exponent = exponent_of(x);
  if (exponent >= 52) return quiet(x);
  if (exponent < 0) return (x & kSign) | (size_of(x) > kOne - kHidden ? kOne : 0);
  const u64 below = below_one(exponent), last = below + 1;
  return (x + (below >> 1) + ((x & last) != 0)) & ~below;
}
/// Halves away from zero.
SOFT u64 cupola_f64_round(u64 x) {
  const int exponent = exponent_of(x);
  if (exponent >= 52) return quiet(x);
  if (exponent < 0) return (x & kSign) | (exponent == -1 ? kOne : 0);
  const u64 below = below_one(exponent);
  return (x + ((below + 1) >> 1)) & ~below;
}
/// x without trunc(x), of x's sign.
SOFT u64 cupola_f64_fraction(u64 x) {
  const int exponent = exponent_of(x);
  if (exponent >= 52) return is_nan(x) ? quiet(x) : x & kSign;
  if (exponent < 0) return x;
  const u64 rest = x & below_one(exponent);
  const int shift = leading_zeros(rest) - 11;
  return (x & kSign) | (rest ? ((u64)(exponent + 1023 - shift - 1) << 52) + (rest << shift) : 0);
}

// -- exponents --

SOFT u64 cupola_f64_ldexp(u64 x, u32 power) {
  const u64 size = size_of(x);
  if (size == 0 || size >= kInfinity) return quiet(x);
  const Number number = normalised(size);
  const int by = most(least((int)power, 5000), -5000);
  return packed(x & kSign, number.exponent + by, number.significand << 10);
}
/// frexp's two results: |fraction| in [0.5, 1).
SOFT u64 cupola_f64_frexp_fraction(u64 x) {
  const u64 size = size_of(x);
  if (size == 0 || size >= kInfinity) return quiet(x);
  return (x & kSign) | (kOne - kHidden) | (normalised(size).significand & kFraction);
}
SOFT u32 cupola_f64_frexp_exponent(u64 x) {
  const u64 size = size_of(x);
  return size == 0 || size >= kInfinity ? 0 : (u32)(normalised(size).exponent - 1022);
}
