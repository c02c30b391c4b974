#include "operands.h"

#include <bit>
#include <cmath>
#include <span>

namespace cupola::ptxtest {
namespace {

using ptx::Type;
using ptx::TypeKind;

constexpr uint64_t kSeed = 0x43555044'4f4c4131;

// At least 24 values a type.
constexpr uint64_t kEdges16f[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7d01, 0xfdff,
                                  0x7fff, 0xffff, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x7bff, 0xfbff,
                                  0x3800, 0x3555, 0x4248, 0xd640, 0x3bff, 0x3c01, 0x6400, 0x0200};
constexpr uint64_t kEdgesB16f[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0xffbf,
                                   0x7fff, 0xffff, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x7f7f, 0xff7f,
                                   0x3f00, 0x3eab, 0x4049, 0xc2c8, 0x3f7f, 0x3f81, 0x4b00, 0x0040};
constexpr uint64_t kEdges32f[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0xffc12345, 0x7f800001, 0xffbfffff, 0x7fffffff, 0xffffffff, 0x00000001, 0x80000001,
                                  0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f000000,
                                  0x40490fdb, 0xc2c80000, 0x3f7fffff, 0x3f800001, 0x4b000000, 0x4f000000, 0xcf000001,
                                  0x5f000000, 0x477fe000, 0x477ff000, 0x33800000, 0x00400000, 0x7e800000};
constexpr uint64_t kEdges64f[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8123456789abc, 0x7ff0000000000001, 0xfff7ffffffffffff,
    0x7fffffffffffffff, 0xffffffffffffffff, 0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff,
    0x800fffffffffffff, 0x0010000000000000, 0x8010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
    0x3fe0000000000000, 0x400921fb54442d18, 0xc059000000000000, 0x3fefffffffffffff, 0x3ff0000000000001,
    0x4330000000000000, 0x41e0000000000000, 0xc3e0000000000000, 0x47efffffe0000000, 0x36a0000000000000};
constexpr uint64_t kEdges16i[] = {0x0000, 0x0001, 0xffff, 0x8000, 0x7fff, 0x8001, 0x5555, 0xaaaa, 0x00ff,
                                  0xff00, 0x0080, 0x007f, 0xff7f, 0x0010, 0x000f, 0x0011, 0x0020, 0x0002,
                                  0xfffe, 0x1234, 0x0040, 0xfedc, 0x4000, 0xc000, 0x0100};
constexpr uint64_t kEdges32i[] = {0x00000000, 0x00000001, 0xffffffff, 0x80000000, 0x7fffffff, 0x80000001, 0x55555555,
                                  0xaaaaaaaa, 0x000000ff, 0x0000ffff, 0xffff0000, 0x00008000, 0x0000001f, 0x00000020,
                                  0x00000021, 0x00000040, 0x00000010, 0x00000002, 0xfffffffe, 0x12345678, 0xfedcba98,
                                  0x00007fff, 0xffff8000, 0x80808080, 0x7f7f7f7f, 0x00800000, 0x0100ff80};
constexpr uint64_t kEdges64i[] = {
    0x0000000000000000, 0x0000000000000001, 0xffffffffffffffff, 0x8000000000000000, 0x7fffffffffffffff,
    0x8000000000000001, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0x00000000ffffffff, 0xffffffff00000000,
    0x0000000080000000, 0xffffffff80000000, 0x000000000000001f, 0x000000000000003f, 0x0000000000000040,
    0x0000000000000041, 0x0000000000000020, 0x0000000000000002, 0xfffffffffffffffe, 0x0123456789abcdef,
    0xfedcba9876543210, 0x0000000100000000, 0x8000000080000000, 0x000000007fffffff, 0x0000000000008000};

std::span<const uint64_t> edges_of(Type type, unsigned bits, bool as_float) {
  if (as_float) {
    if (type == Type::BF16) return kEdgesB16f;
    if (bits == 16) return kEdges16f;
    if (bits == 32) return kEdges32f;
    return kEdges64f;
  }
  if (bits <= 16) return kEdges16i;
  if (bits == 32) return kEdges32i;
  return kEdges64i;
}

/// A number as a floating-point type's bits; the mantissa is cut, which is good enough for operands.
uint64_t encoded(Type type, unsigned bits, double value) {
  if (bits == 64) return std::bit_cast<uint64_t>(value);
  const uint32_t single = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (bits == 32) return single;
  if (type == Type::BF16) return single >> 16;
  const int exponent = static_cast<int>(single >> 23 & 0xff) - 127 + 15;
  const uint32_t sign = single >> 16 & 0x8000;
  if (exponent <= 0) return sign;
  if (exponent >= 31) return sign | 0x7c00;
  return sign | static_cast<uint32_t>(exponent) << 10 | (single >> 13 & 0x3ff);
}

uint64_t small(Type type, unsigned bits, bool as_float, uint64_t random) {
  int64_t number = static_cast<int64_t>(random >> 8 & 0x7f) - 8;
  if ((random & 3) == 1) number = -number;
  if ((random & 3) == 2) number = static_cast<int64_t>(uint64_t{1} << (random >> 8 & 63)) + (random >> 16 & 3) - 1;
  if ((random & 3) == 3) number = static_cast<int64_t>(random >> 8 & 0x3fff) - 0x2000;
  if (!as_float) return static_cast<uint64_t>(number);
  const double scale = (random >> 40 & 3) == 0 ? 0.5 : 1;  // halves are the ties of conversions
  return encoded(type, bits, static_cast<double>(number) * scale);
}

uint64_t edge(Type type, unsigned bits, bool as_float, uint64_t random) {
  const auto edges = edges_of(type, bits, as_float);
  const uint64_t step[] = {0, 0, 0, 0, 1, ~uint64_t{0}, 2, ~uint64_t{1}};
  return edges[(random >> 8) % edges.size()] + step[random & 7];
}

/// A floating-point number of everyday size, its mantissa often short; an integer of any size.
uint64_t everyday(Type type, unsigned bits, bool as_float, uint64_t random) {
  if (!as_float) return random >> (random & 63);
  const double mantissa = 1 + static_cast<double>(random >> 12) * 0x1p-52;
  const int exponent = static_cast<int>(random & 63) - 32;
  double value = std::ldexp(mantissa, exponent);
  uint64_t as = encoded(type, bits, bits == 64 ? value : value * (bits == 16 ? 0x1p0 : 1));
  const unsigned cut = bits == 64 ? 20 + (random >> 6 & 31) : bits == 32 ? (random >> 6 & 15) + 8 : random >> 6 & 7;
  if ((random >> 11 & 1) != 0) as &= ~((uint64_t{1} << cut) - 1);
  if ((random >> 10 & 1) != 0) as |= uint64_t{1} << (bits - 1);
  return as;
}

uint64_t drawn(Draw draw, Type type, unsigned bits, bool as_float, uint64_t random) {
  switch (draw) {
    case Draw::Raw:
      return random;
    case Draw::Small:
      return small(type, bits, as_float, random);
    case Draw::Edge:
      return edge(type, bits, as_float, random);
    case Draw::Mixed:
      switch (random >> 60 & 3) {
        case 0:
          return mixed(random);
        case 1:
          return small(type, bits, as_float, mixed(random));
        case 2:
          return edge(type, bits, as_float, mixed(random));
        default:
          return everyday(type, bits, as_float, mixed(random));
      }
  }
  return random;
}

/// What a type is drawn as: its element and whether that is a number with a fraction. Untyped bits are drawn as either.
struct Element {
  Type type;
  unsigned bits;
  bool is_float;
};
Element element_of(const Slot& slot, uint64_t random) {
  switch (slot.type) {
    case Type::F16x2:
      return {Type::F16, 16, true};
    case Type::BF16x2:
      return {Type::BF16, 16, true};
    case Type::U16x2:
    case Type::S16x2:
      return {Type::U16, 16, false};
    default:
      break;
  }
  const unsigned bits = bits_of(slot.type);
  if (kind_of(slot.type) == TypeKind::Float && bits >= 16) return {slot.type, bits, true};
  if (kind_of(slot.type) == TypeKind::Bits && bits >= 16) return {slot.type, bits, (random >> 7 & 3) == 0};
  return {slot.type, bits < 16 ? 16 : bits, false};
}

uint64_t narrowed(uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

}  // namespace

uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

Draw draw_of(const Case& of, unsigned set) {
  const unsigned part = (of.count() - of.kept()) / kDraws;
  return static_cast<Draw>(std::min((set - of.kept()) / part, kDraws - 1));
}

uint64_t operand_bits(const Case& of, unsigned set, unsigned k) {
  const Slot& slot = of.inputs[k];
  const unsigned width = std::max(slot.bits, 1U);
  const uint64_t random = mixed(mixed(kSeed + set) + k);
  uint64_t bits = 0;
  if (set < of.kept()) {
    const Element element = element_of(slot, slot.type == Type::B16 || slot.type == Type::B32 ? random : 1 << 7);
    const auto edges = edges_of(element.type, element.bits, element.is_float);
    constexpr unsigned kStride[] = {1, 5, 7, 11, 13};
    const auto at = [&](unsigned part) { return edges[(set * kStride[(k + part) % 5] + 3 * k + part) % edges.size()]; };
    bits = at(0);
    if (element.bits == 16 && bits_of(slot.type) == 32) bits |= at(1) << 16;
    if (slot.type == Type::Pred) bits = set >> k;
    // A register wider than its type: what lies above must not count.
    if (slot.bits > bits_of(slot.type) && slot.type != Type::Pred) bits |= random << std::max(bits_of(slot.type), 8U);
  } else {
    // Equal operands are too rare to be left to chance.
    const bool same = k > 0 && (random & 7) == 0 && of.inputs[k - 1].type == slot.type;
    const Draw draw = draw_of(of, set);
    const uint64_t next = mixed(random);
    const Element element = element_of(slot, next);
    bits = drawn(draw, element.type, element.bits, element.is_float, next);
    if (element.bits == 16 && bits_of(slot.type) == 32)
      bits = (bits & 0xffff) | drawn(draw, element.type, 16, element.is_float, mixed(next)) << 16;
    if (slot.bits > bits_of(slot.type) && slot.type != Type::Pred && draw != Draw::Small)
      bits = narrowed(bits, std::max(bits_of(slot.type), 8U)) | random << std::max(bits_of(slot.type), 8U);
    if (same) bits = operand_bits(of, set, k - 1);
  }
  bits = narrowed(bits, slot.type == Type::Pred ? 1 : width) & slot.range;
  if (of.division && k == 1 && narrowed(bits, bits_of(slot.type)) == 0) bits = 3;
  return bits;
}

bool is_nan(Type type, uint64_t bits) {
  switch (type) {
    case Type::F16:
      return (bits & 0x7fff) > 0x7c00;
    case Type::BF16:
      return (bits & 0x7fff) > 0x7f80;
    case Type::F32:
    case Type::TF32:
      return (bits & 0x7fffffff) > 0x7f800000;
    case Type::F64:
      return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    default:
      return false;
  }
}

double decoded(Type type, uint64_t bits) {
  if (type == Type::F64) return std::bit_cast<double>(bits);
  if (type == Type::BF16) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  if (type != Type::F16) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double mantissa = static_cast<double>(bits & 0x3ff);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

}  // namespace cupola::ptxtest
