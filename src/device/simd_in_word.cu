#include "device.h"

// Two halves or four bytes of a word at once: "CUDA Math API, SIMD Intrinsics". Each family is its rule for one lane,
// applied to all lanes of both widths.

namespace {

template <int width>
struct Lane;
template <>
struct Lane<16> {
  using Signed = short;
  using Unsigned = unsigned short;
};
template <>
struct Lane<8> {
  using Signed = signed char;
  using Unsigned = unsigned char;
};

LOCAL int clamp(int x, int low, int high) {
  return x < low ? low : x > high ? high : x;
}
LOCAL int magnitude(int x) {
  return x < 0 ? -x : x;
}

}  // namespace

// Rules see the lane as int: a, b signed, ua, ub unsigned; width, and the largest lane value of each kind.
#define LANES(width, rule)                                                                  \
  const unsigned int x = (unsigned int)word_a, y = (unsigned int)word_b;                    \
  unsigned int result = 0;                                                                  \
  for (int at = 0; at < 32; at += width) {                                                  \
    const int a = (Lane<width>::Signed)(x >> at), b = (Lane<width>::Signed)(y >> at);       \
    const int ua = (Lane<width>::Unsigned)(x >> at), ub = (Lane<width>::Unsigned)(y >> at); \
    const int most = (1 << (width - 1)) - 1, umost = (1 << width) - 1;                      \
    (void)a, (void)b, (void)ua, (void)ub, (void)most, (void)umost;                          \
    result |= ((unsigned int)(rule) & (unsigned int)umost) << at;                           \
  }                                                                                         \
  return (int)result;

#define BINARY(name, rule)                                                                                       \
  NV int __nv_##name##2(int word_a, int word_b){LANES(16, rule)} NV int __nv_##name##4(int word_a, int word_b) { \
    LANES(8, rule)                                                                                               \
  }
#define UNARY(name, rule)             \
  NV int __nv_##name##2(int word_a) { \
    const int word_b = 0;             \
    LANES(16, rule)                   \
  }                                   \
  NV int __nv_##name##4(int word_a) { \
    const int word_b = 0;             \
    LANES(8, rule)                    \
  }
/// set gives 1 and cmp all ones where the comparison holds.
#define COMPARE(name, rule)          \
  BINARY(vset##name, (rule) ? 1 : 0) \
  BINARY(vcmp##name, (rule) ? umost : 0)

UNARY(vabs, magnitude(a))
UNARY(vabsss, clamp(magnitude(a), 0, most))
UNARY(vneg, -a)
UNARY(vnegss, clamp(-a, -most - 1, most))
BINARY(vadd, a + b)
BINARY(vaddss, clamp(a + b, -most - 1, most))
BINARY(vaddus, clamp(ua + ub, 0, umost))
BINARY(vsub, a - b)
BINARY(vsubss, clamp(a - b, -most - 1, most))
BINARY(vsubus, clamp(ua - ub, 0, umost))
BINARY(vabsdiffs, magnitude(a - b))
BINARY(vabsdiffu, magnitude(ua - ub))
BINARY(vavgs, a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1)
BINARY(vavgu, (ua + ub + 1) >> 1)
BINARY(vhaddu, (ua + ub) >> 1)
BINARY(vmaxs, a > b ? a : b)
BINARY(vmaxu, ua > ub ? ua : ub)
BINARY(vmins, a < b ? a : b)
BINARY(vminu, ua < ub ? ua : ub)
COMPARE(eq, a == b)
COMPARE(ne, a != b)
COMPARE(ges, a >= b)
COMPARE(geu, ua >= ub)
COMPARE(gts, a > b)
COMPARE(gtu, ua > ub)
COMPARE(les, a <= b)
COMPARE(leu, ua <= ub)
COMPARE(lts, a < b)
COMPARE(ltu, ua < ub)

// Sums of absolute differences over the lanes.
#define SUM(name, width, left, right)                                                             \
  NV int __nv_##name(int word_a, int word_b) {                                                    \
    int sum = 0;                                                                                  \
    for (int at = 0; at < 32; at += width)                                                        \
      sum += magnitude((left)((unsigned int)word_a >> at) - (right)((unsigned int)word_b >> at)); \
    return sum;                                                                                   \
  }
SUM(vsads2, 16, short, short)
SUM(vsads4, 8, signed char, signed char)
SUM(vsadu2, 16, unsigned short, unsigned short)
SUM(vsadu4, 8, unsigned char, unsigned char)
