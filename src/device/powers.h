#pragma once

#include "elementary.h"

// Logarithms with more digits than a double has, and exponentials of them: for powers and the gamma function, where
// what the logarithm loses is multiplied by up to 1000 (elementary.h has the method).

namespace cupola::device {

/// a + b for |b| << |a|, to about 100 bits.
LOCAL Pair operator+(Pair a, double b) {
  const Pair sum = two_sum(a.high, b);
  return fast_two_sum(sum.high, sum.low + a.low);
}
LOCAL Pair operator*(Pair a, double b) {
  const Pair product = two_product(a.high, b);
  return fast_two_sum(product.high, fused(a.low, b, product.low));
}

/// log x of a positive finite number, to 2^-64 of it. x = 2^n m, with s = (m - 1)/(m + 1) log m is
/// 2s + 2/3 s^3 + ...; of the first two terms more than 53 bits count.
LOCAL Pair logarithm_pair(double x) {
  const bool denormal = x < 0x1p-1022;
  const unsigned long long word = bits(denormal ? x * 0x1p54 : x);
  const unsigned long long exponent = (word - 0x3fe6a09e667f3bcdull) & 0xfff0000000000000ull;
  const double n = (double)((int)(exponent >> 32) >> 20) - (denormal ? 54.0 : 0.0);
  const double m = from_bits(word - exponent), f = m - 1, sum = m + 1;
  // f and what sum lacks are exact.
  const double sum_low = m - (sum - 1), s = f / sum;
  const double s_low = (fused(-s, sum, f) - s * sum_low) / sum;
  const double square = s * s, square_low = fused(s, s, -square) + 2 * s * s_low;
  const double rest =
      polynomial(square, 0x1.999999999999ap-2, 0x1.2492492492492p-2, 0x1.c71c71c71c71cp-3, 0x1.745d1745d1746p-3,
                 0x1.3b13b13b13b14p-3, 0x1.1111111111111p-3, 0x1.e1e1e1e1e1e1ep-4, 0x1.af286bca1af28p-4,
                 0x1.8618618618618p-4, 0x1.642c8590b2164p-4, 0x1.47ae147ae147bp-4);
  // 2/3 + square rest, times s^3
  Pair factor = two_product(square, rest);
  factor =
      fast_two_sum(0x1.5555555555555p-1, factor.high) + (0x1.5555555555555p-55 + fused(square_low, rest, factor.low));
  const Pair cube = Pair{square, square_low} * Pair{s, s_low};
  const Pair logarithm = fast_two_sum(2 * s, 2 * s_low) + cube * factor;
  return Pair{n * 0x1.62e42fefa38p-1, n * 0x1.ef35793c7673p-45} + logarithm;
}

/// e to the exponent as value * 2^power, value from 0.7 to 1.5; |exponent| <= 2000. 0.8 ulp.
struct PowerOfE {
  double value;
  int power;
};
LOCAL PowerOfE exponential_pair(Pair exponent) {
  const double shifted = fused(exponent.high, 0x1.71547652b82fep+0, 0x1.8p52), whole = shifted - 0x1.8p52;
  double rest = fused(whole, -0x1.62e42fefa38p-1, exponent.high);
  rest = fused(whole, -0x1.ef35793c7673p-45, rest) + exponent.low;
  const double value = polynomial(rest, 1.0, 1.0, 0x1.000000000000ap-1, 0x1.55555555555p-3, 0x1.55555555505f3p-5,
                                  0x1.1111111125a8cp-7, 0x1.6c16c184bc2f6p-10, 0x1.a01a01386f11fp-13,
                                  0x1.a0199874e0343p-16, 0x1.71deff60cd25fp-19, 0x1.28aef5c3f2bd1p-22,
                                  0x1.adc601ebbc44bp-26);  // 2^-57
  return {value, (int)(unsigned int)bits(shifted)};
}
/// value * 2^power, rounded once where value is about 1; |power| <= 3000.
LOCAL double scaled(PowerOfE x) {
  const int third = x.power / 3;
  const double by = from_bits((unsigned long long)(third + 1023) << 52);
  return x.value * by * by * from_bits((unsigned long long)(x.power - 2 * third + 1023) << 52);
}

}  // namespace cupola::device
