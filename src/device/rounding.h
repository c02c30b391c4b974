#pragma once

#include "device.h"

// Directed rounding without changing the rounding mode: take the result rounded to nearest, find on which side of it
// the exact value lies, and step to the neighbour where the mode says so.

namespace cupola::device {

enum class Rounding { Nearest, Zero, Up, Down };

/// The neighbour of x on the side of +infinity (up) or -infinity. x is not NaN.
LOCAL double neighbour(double x, bool up) {
  if (x == 0) return up ? from_bits(1ull) : from_bits(0x8000000000000001ull);
  return from_bits((x > 0) == up ? bits(x) + 1 : bits(x) - 1);
}
LOCAL float neighbour(float x, bool up) {
  if (x == 0) return up ? from_bits(1u) : from_bits(0x80000001u);
  return from_bits((x > 0) == up ? bits(x) + 1 : bits(x) - 1);
}

/// `nearest` is the exact value rounded to nearest and `error` has the sign of exact - nearest (0: it is exact).
template <typename Float, typename Error>
LOCAL Float step(Float nearest, Error error, Rounding rounding) {
  if (!(error < 0 || error > 0)) return nearest;
  const bool above = error > 0;  // the exact value lies above
  switch (rounding) {
    case Rounding::Nearest:
      return nearest;
    case Rounding::Up:
      return above ? neighbour(nearest, true) : nearest;
    case Rounding::Down:
      return above ? nearest : neighbour(nearest, false);
    case Rounding::Zero:
      if (__builtin_signbit(nearest)) return above ? neighbour(nearest, true) : nearest;
      return above ? nearest : neighbour(nearest, false);
  }
  return nearest;
}

/// x as float. `sticky` has the sign of what x lacks of the exact value, less than half an ulp of x.
LOCAL float narrow(double x, double sticky, Rounding rounding) {
  const float nearest = (float)x;
  if (is_nan(x) || is_infinite(x)) return nearest;
  const double error = x - (double)nearest;  // its sign is right; infinite if nearest is
  return step(nearest, error != 0 ? error : sticky, rounding);
}

}  // namespace cupola::device
