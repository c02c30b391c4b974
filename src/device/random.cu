#include "device.h"

// Skipping ahead in the generators of curand_kernel.h. Both advance by n * 2^log2 numbers, one table entry for each bit
// of n, where n * 2^log2 is below 2^192 for MRG32k3a and below 2^131 for XORWOW.

using u32 = unsigned int;
using u64 = unsigned long long;

namespace {

// XORWOW's shift register is linear over GF(2), with a characteristic polynomial p of degree 160. The register after k
// steps is the sum of those after i steps for each term x^i of x^k mod p (Haramoto, Matsumoto, Nishimura, Panneton and
// L'Ecuyer, "Efficient Jump Ahead for F2-Linear Random Number Generators", INFORMS J. Computing 20(3), 2008).

/// A polynomial over GF(2) below degree 160; bit i of word j is the coefficient of x^(32 j + i).
struct Polynomial {
  u32 words[5];
};

/// p without x^160, by the algorithm of Berlekamp and Massey from 320 numbers' lowest bits.
constexpr u32 kCharacteristic[5] = {0x00060001, 0x08610030, 0x00062121, 0x0f3c0035, 0x00000f0e};

/// square(a) is a with a zero after each coefficient, from the highest on modulo p.
constexpr Polynomial square(const Polynomial& a) {
  Polynomial result{};
  for (int bit = 319; bit >= 0; --bit) {
    const u32 carry = result.words[4] >> 31;
    for (int j = 4; j > 0; --j) result.words[j] = result.words[j] << 1 | result.words[j - 1] >> 31;
    result.words[0] <<= 1;
    if (carry)
      for (int j = 0; j < 5; ++j) result.words[j] ^= kCharacteristic[j];
    if (bit % 2 == 0) result.words[0] ^= a.words[bit / 64] >> (bit / 2 % 32) & 1;
  }
  return result;
}

struct Polynomials {
  Polynomial of[131];
};
/// x^(2^i) mod p.
constexpr Polynomials powers_of_x() {
  Polynomials powers{};
  powers.of[0] = {{2, 0, 0, 0, 0}};
  for (int i = 1; i < 131; ++i) powers.of[i] = square(powers.of[i - 1]);
  return powers;
}
DEVICE constexpr Polynomials kPowersOfX = powers_of_x();

// MRG32k3a is two linear recurrences modulo primes (L'Ecuyer, "Good Parameters and Implementations for Combined
// Multiple Recursive Random Number Generators", Operations Research 47(1), 1999): powers of their matrices skip.

struct Matrix {
  u32 at[3][3];
};

constexpr Matrix multiply(const Matrix& a, const Matrix& b, u64 modulus) {
  Matrix product{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      u64 sum = 0;
      for (int k = 0; k < 3; ++k) sum = (sum + (u64)a.at[i][k] * b.at[k][j] % modulus) % modulus;
      product.at[i][j] = (u32)sum;
    }
  return product;
}

struct Matrices {
  Matrix of[192];
};
constexpr Matrices powers_of(const Matrix& step, u64 modulus) {
  Matrices powers{};
  powers.of[0] = step;
  for (int i = 1; i < 192; ++i) powers.of[i] = multiply(powers.of[i - 1], powers.of[i - 1], modulus);
  return powers;
}
constexpr u64 kModulus1 = 4294967087, kModulus2 = 4294944443;
DEVICE constexpr Matrices kPowers1 = powers_of({{{0, 1, 0}, {0, 0, 1}, {kModulus1 - 810728, 1403580, 0}}}, kModulus1);
DEVICE constexpr Matrices kPowers2 = powers_of({{{0, 1, 0}, {0, 0, 1}, {kModulus2 - 1370589, 0, 527612}}}, kModulus2);

LOCAL void apply(const Matrix& matrix, u32* state, u64 modulus) {
  u32 next[3];
  for (int i = 0; i < 3; ++i) {
    u64 sum = 0;
    for (int k = 0; k < 3; ++k) sum += (u64)matrix.at[i][k] * state[k] % modulus;
    next[i] = (u32)(sum % modulus);
  }
  for (int i = 0; i < 3; ++i) state[i] = next[i];
}

}  // namespace

/// The five words of the register.
NV void __cupola_xorwow_skip(u32* words, u64 n, u32 log2) {
  for (; n; n >>= 1, ++log2) {
    if (!(n & 1)) continue;
    u32 sum[5] = {};
    for (u32 bit = 0; bit < 160; ++bit) {
      if (kPowersOfX.of[log2].words[bit / 32] >> (bit % 32) & 1)
        for (int j = 0; j < 5; ++j) sum[j] ^= words[j];
      const u32 first = words[0] ^ words[0] >> 2, last = words[4] ^ words[4] << 4 ^ first ^ first << 1;
      for (int j = 0; j < 4; ++j) words[j] = words[j + 1];
      words[4] = last;
    }
    for (int j = 0; j < 5; ++j) words[j] = sum[j];
  }
}

/// The three words of each recurrence.
NV void __cupola_mrg32k3a_skip(u32* first, u32* second, u64 n, u32 log2) {
  for (; n; n >>= 1, ++log2)
    if (n & 1) {
      apply(kPowers1.of[log2], first, kModulus1);
      apply(kPowers2.of[log2], second, kModulus2);
    }
}
