#include <bit>
#include <cstdint>

// Conversions to bfloat16 that LLVM's code generator calls and that libgcc has only from version 13 on. They round to
// nearest even; a NaN stays one, quiet. Weak, so that a runtime library that has them wins. Results travel as the
// platform passes __bf16.

namespace {

uint16_t round_to_bfloat16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Rounds to odd, so that the second rounding sees whether the first lost anything.
uint32_t narrow_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (value != value || static_cast<double>(nearest) == value) return bits;
  const bool away = (nearest > value) == (value > 0);
  if (away) --bits;
  return bits | 1;
}

}  // namespace

extern "C" {
[[gnu::weak]] __bf16 __truncsfbf2(float value) {
  return std::bit_cast<__bf16>(round_to_bfloat16(std::bit_cast<uint32_t>(value)));
}

[[gnu::weak]] __bf16 __truncdfbf2(double value) {
  return std::bit_cast<__bf16>(round_to_bfloat16(narrow_to_odd(value)));
}
}
