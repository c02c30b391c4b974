#pragma once

#include "matrix_numbers.h"

// Where the elements of mma.sync's fragments lie: the tables of "PTX ISA, Matrix Fragments for mma.m8n8k4" and the
// sections after it, one function a figure, and the types that go with each shape.

namespace cupola::ptxtest {

using enum Number;

struct Place {
  unsigned row, column;
};
/// Of element i; g is the lane's group (lane / 4), t its place in the group.
using PlaceOf = Place (*)(unsigned g, unsigned t, unsigned i);

inline Place c16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}
inline Place c8(unsigned g, unsigned t, unsigned i) {
  return {g, t * 2 + (i & 1)};
}

// 16-bit floats.
inline Place a_k8_16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}
inline Place b_k8_16(unsigned g, unsigned t, unsigned i) {
  return {t * 2 + i, g};
}
inline Place a_k16_16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 || (i >= 4 && i < 6) ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
}
inline Place b_k16_16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g};
}
// tf32, and f64 of 16 rows.
inline Place a_k4(unsigned g, unsigned t, unsigned i) {
  return {i == 0 ? g : g + 8, t};
}
inline Place b_k4(unsigned g, unsigned t, unsigned) {
  return {t, g};
}
inline Place a_k8(unsigned g, unsigned t, unsigned i) {
  return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
}
inline Place b_k8(unsigned g, unsigned t, unsigned i) {
  return {i == 0 ? t : t + 4, g};
}
inline Place a_k16_64(unsigned g, unsigned t, unsigned i) {
  return {i % 2 == 0 ? g : g + 8, i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t};
}
inline Place b_k16_64(unsigned g, unsigned t, unsigned i) {
  return {t + i * 4, g};
}
inline Place a8_k4(unsigned g, unsigned t, unsigned) {
  return {g, t};
}
// Bytes.
inline Place a8_k16_8(unsigned g, unsigned t, unsigned i) {
  return {g, t * 4 + (i & 3)};
}
inline Place a_k16_8(unsigned g, unsigned t, unsigned i) {
  return {i < 4 ? g : g + 8, t * 4 + (i & 3)};
}
inline Place b_k16_8(unsigned g, unsigned t, unsigned i) {
  return {t * 4 + i, g};
}
inline Place a_k32_8(unsigned g, unsigned t, unsigned i) {
  return {i < 4 || (i >= 8 && i < 12) ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
}
inline Place b_k32_8(unsigned g, unsigned t, unsigned i) {
  return {i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g};
}
// 4 bits.
inline Place a8_k32_4(unsigned g, unsigned t, unsigned i) {
  return {g, t * 8 + (i & 7)};
}
inline Place a_k32_4(unsigned g, unsigned t, unsigned i) {
  return {i < 8 ? g : g + 8, t * 8 + (i & 7)};
}
inline Place b_k32_4(unsigned g, unsigned t, unsigned i) {
  return {t * 8 + i, g};
}
inline Place a_k64_4(unsigned g, unsigned t, unsigned i) {
  return {i < 8 || (i >= 16 && i < 24) ? g : g + 8, i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32};
}
inline Place b_k64_4(unsigned g, unsigned t, unsigned i) {
  return {i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g};
}
// Bits.
inline Place a8_k128(unsigned g, unsigned t, unsigned i) {
  return {g, t * 32 + (i & 31)};
}
inline Place a_k128(unsigned g, unsigned t, unsigned i) {
  return {i < 32 ? g : g + 8, t * 32 + (i & 31)};
}
inline Place b_k128(unsigned g, unsigned t, unsigned i) {
  return {t * 32 + i, g};
}
inline Place a_k256(unsigned g, unsigned t, unsigned i) {
  return {i < 32 || (i >= 64 && i < 96) ? g : g + 8, i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128};
}
inline Place b_k256(unsigned g, unsigned t, unsigned i) {
  return {i < 32 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128, g};
}

struct Fragments {
  unsigned m, k;
  std::vector<std::pair<Number, Number>> factors;  ///< A and B
  std::vector<Number> sums;                        ///< C and D
  PlaceOf a, b;
  unsigned version = 84, target = 80;
};

inline const std::vector<Fragments>& all_fragments() {
  static const auto& all = *new std::vector<Fragments>{
      {16, 8, {{F16, F16}}, {F16, F32}, a_k8_16, b_k8_16},
      {16, 16, {{F16, F16}}, {F16, F32}, a_k16_16, b_k16_16},
      {16, 8, {{BF16, BF16}}, {F32}, a_k8_16, b_k8_16},
      {16, 16, {{BF16, BF16}}, {F32}, a_k16_16, b_k16_16},
      {16, 4, {{TF32, TF32}}, {F32}, a_k4, b_k4},
      {16, 8, {{TF32, TF32}}, {F32}, a_k8, b_k8},
      {16, 32, {{E4M3, E4M3}, {E4M3, E5M2}, {E5M2, E4M3}, {E5M2, E5M2}}, {F32}, a_k32_8, b_k32_8, 84, 89},
      {16, 32, {{E4M3, E5M2}}, {F16}, a_k32_8, b_k32_8, 87, 89},
      {16, 16, {{E4M3, E5M2}, {E5M2, E4M3}}, {F16, F32}, a_k16_8, b_k16_8, 87, 89},
      {8, 4, {{F64, F64}}, {F64}, a8_k4, b_k4},
      {16, 4, {{F64, F64}}, {F64}, a_k4, b_k4, 84, 90},
      {16, 8, {{F64, F64}}, {F64}, a_k8, b_k8, 84, 90},
      {16, 16, {{F64, F64}}, {F64}, a_k16_64, b_k16_64, 84, 90},
      {8, 16, {{S8, S8}, {S8, U8}, {U8, S8}, {U8, U8}}, {S32}, a8_k16_8, b_k16_8},
      {16, 16, {{S8, S8}, {S8, U8}, {U8, S8}, {U8, U8}}, {S32}, a_k16_8, b_k16_8},
      {16, 32, {{S8, S8}, {S8, U8}, {U8, S8}, {U8, U8}}, {S32}, a_k32_8, b_k32_8},
      {8, 32, {{S4, S4}, {S4, U4}, {U4, S4}, {U4, U4}}, {S32}, a8_k32_4, b_k32_4},
      {16, 32, {{S4, S4}, {S4, U4}, {U4, S4}, {U4, U4}}, {S32}, a_k32_4, b_k32_4},
      {16, 64, {{S4, S4}, {S4, U4}, {U4, S4}, {U4, U4}}, {S32}, a_k64_4, b_k64_4},
      {8, 128, {{B1, B1}}, {S32}, a8_k128, b_k128},
      {16, 128, {{B1, B1}}, {S32}, a_k128, b_k128},
      {16, 256, {{B1, B1}}, {S32}, a_k256, b_k256},
  };
  return all;
}

}  // namespace cupola::ptxtest
