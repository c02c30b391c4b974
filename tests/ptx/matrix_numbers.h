#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

// Numbers of the matrix types, by their definitions: sign, exponent and fraction, or two's complement. "PTX ISA,
// Types".

namespace cupola::ptxtest {

enum class Number : uint8_t { F16, BF16, TF32, F32, F64, S8, U8, S4, U4, B1, E4M3, E5M2, S32 };

struct NumberFormat {
  const char* text;                     ///< in PTX
  unsigned bits;                        ///< in memory
  unsigned exponent = 0, fraction = 0;  ///< of floats
  bool is_signed = false;               ///< of integers
};

inline const NumberFormat& format_of(Number number) {
  static constexpr NumberFormat kFormats[] = {
      {"f16", 16, 5, 10},    {"bf16", 16, 8, 7}, {"tf32", 32, 8, 10},    {"f32", 32, 8, 23}, {"f64", 64, 11, 52},
      {"s8", 8, 0, 0, true}, {"u8", 8},          {"s4", 4, 0, 0, true},  {"u4", 4},          {"b1", 1},
      {"e4m3", 8, 4, 3},     {"e5m2", 8, 5, 2},  {"s32", 32, 0, 0, true}};
  return kFormats[static_cast<size_t>(number)];
}

/// What the bits say. tf32 has 19 bits at the top of its register; the others are of no effect.
inline double value_of(Number number, uint64_t bits) {
  const NumberFormat& format = format_of(number);
  if (!format.exponent) {
    const auto raw = static_cast<int64_t>(bits & ((uint64_t{1} << format.bits) - 1));
    return static_cast<double>(format.is_signed && raw >> (format.bits - 1) ? raw - (int64_t{1} << format.bits) : raw);
  }
  if (number == Number::TF32) bits >>= 13;
  const unsigned e = format.exponent, f = format.fraction;
  const auto fraction = static_cast<double>(bits & ((uint64_t{1} << f) - 1));
  const auto exponent = static_cast<int>(bits >> f & ((uint64_t{1} << e) - 1)), bias = (1 << (e - 1)) - 1;
  const double size =
      exponent ? std::ldexp(fraction + std::ldexp(1.0, static_cast<int>(f)), exponent - bias - static_cast<int>(f))
               : std::ldexp(fraction, 1 - bias - static_cast<int>(f));
  return bits >> (e + f) & 1 ? -size : size;
}

/// Any integer; any float between 1/16 and 16, either sign. tf32's idle bits are set at random.
inline uint64_t random_bits(Number number, std::mt19937_64& random) {
  const NumberFormat& format = format_of(number);
  if (number == Number::S32) {  // a third near each end, where sums overflow
    const auto near = static_cast<uint32_t>(random() % 1000), kind = static_cast<uint32_t>(random() % 3);
    return kind == 0 ? 0x7fffffffu - near : kind == 1 ? 0x80000000u + near : static_cast<uint32_t>(random());
  }
  if (!format.exponent) return random() & ((uint64_t{1} << format.bits) - 1);
  const uint64_t bias = (uint64_t{1} << (format.exponent - 1)) - 1, exponent = bias - 4 + random() % 8;
  const uint64_t fraction = random() & ((uint64_t{1} << format.fraction) - 1), sign = random() & 1;
  const uint64_t bits = (sign << format.exponent | exponent) << format.fraction | fraction;
  return number == Number::TF32 ? bits << 13 | (random() & 0x1fff) : bits;
}

/// A matrix of bits, row by row.
struct Matrix {
  Number number;
  unsigned rows, columns;
  std::vector<uint64_t> bits;

  Matrix(Number number, unsigned rows, unsigned columns)
      : number(number), rows(rows), columns(columns), bits(size_t{rows} * columns) {}
  void fill(std::mt19937_64& random) {
    for (uint64_t& each : bits) each = random_bits(number, random);
  }
  uint64_t& at(unsigned row, unsigned column) { return bits[size_t{row} * columns + column]; }
  uint64_t at(unsigned row, unsigned column) const { return bits[size_t{row} * columns + column]; }
  double value(unsigned row, unsigned column) const { return value_of(number, at(row, column)); }
};

/// What multiplies: products are summed in double (exact for integers), or bits are combined and counted.
struct Rule {
  enum class Bits : uint8_t { None, And, Xor } bits = Bits::None;
  bool saturate = false;
  unsigned c_times = 1;       ///< C is added so often
  const char* rounding = "";  ///< ".rm": no sum is above the exact one; ".rp": none below
};

/// Whether `d` is a b + c: exactly for integers (modulo 2^32, or clamped), else within the rounding that a sum in the
/// type of D, or in the little that tensor cores keep of it, may have.
inline bool agrees(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d, Rule rule, unsigned& row,
                   unsigned& column, double& expected) {
  const bool narrow_sum = d.number == Number::F16 || c.number == Number::F16 || format_of(a.number).bits == 8;
  const double unit = d.number == Number::F64 ? 0x1p-47 : narrow_sum ? 0x1p-9 : 0x1p-19;
  for (row = 0; row < d.rows; ++row)
    for (column = 0; column < d.columns; ++column) {
      __float128 exact_sum = 0;
      double sum = 0, size = 0;
      for (unsigned k = 0; k < a.columns; ++k) {
        const uint64_t x = a.at(row, k), y = b.at(k, column);
        const double product = rule.bits == Rule::Bits::And   ? static_cast<double>(x & y)
                               : rule.bits == Rule::Bits::Xor ? static_cast<double>(x ^ y)
                                                              : a.value(row, k) * b.value(k, column);
        exact_sum += static_cast<__float128>(a.value(row, k)) * static_cast<__float128>(b.value(k, column));
        sum += product, size += std::fabs(product);
      }
      const double added = rule.c_times * c.value(row, column);
      sum += added, size += std::fabs(added);
      expected = sum;
      exact_sum += static_cast<__float128>(added);
      const auto found = static_cast<__float128>(d.value(row, column));
      if ((rule.rounding == std::string_view(".rm") && found > exact_sum) ||
          (rule.rounding == std::string_view(".rp") && found < exact_sum))
        return false;
      if (d.number != Number::S32) {
        if (!(std::fabs(d.value(row, column) - sum) <= unit * size)) return false;
        continue;
      }
      const auto exact = static_cast<int64_t>(sum);
      const int64_t clamped = std::min<int64_t>(std::max<int64_t>(exact, INT32_MIN), INT32_MAX);
      if (static_cast<uint32_t>(rule.saturate ? clamped : exact) != static_cast<uint32_t>(d.at(row, column)))
        return false;
    }
  return true;
}

}  // namespace cupola::ptxtest
