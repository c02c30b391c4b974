#pragma once

#include <cstdint>

#include "cases.h"

// Operand sets. Set i of a case is the same in every run and for every case with operands of the same types, so that a
// hash over the outputs can stand for them.

namespace cupola::ptxtest {

/// Where the random sets are divided; each part has its own hash, which tells what kind of value differs.
enum class Draw : uint8_t {
  Raw,    ///< any bits
  Small,  ///< small integers, powers of two and their neighbours; as numbers for floating-point types
  Edge,   ///< the edge values and their neighbours
  Mixed,  ///< one of the above for each operand, or a number of everyday size with a short mantissa
};
constexpr unsigned kDraws = 4;
Draw draw_of(const Case& of, unsigned set);

/// The bits of operand `k` in set `set`. The first kept() sets are edge values: operand k walks the edges of its type
/// with a stride of its own, so that they meet in ever new pairs.
uint64_t operand_bits(const Case& of, unsigned set, unsigned k);

/// splitmix64 (Steele, Lea, Flood, 2014): a bijection of 64 bits.
uint64_t mixed(uint64_t value);

bool is_nan(ptx::Type type, uint64_t bits);
/// The value of f16, bf16, f32 or f64 bits.
double decoded(ptx::Type type, uint64_t bits);

}  // namespace cupola::ptxtest
