#include "backend/cpu/build/vector_shape.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace cupola::cpu::build {

using Kind = Shape::Kind;

namespace {

/// Makes two shapes that have steps, or none, comparable.
void bring_together(Shape& a, Shape& b, BlockClass blocks) {
  if (a.kind == b.kind || segment_lanes(blocks) == kLanes) return;
  a = segmented(a, blocks);
  b = segmented(b, blocks);
}

}  // namespace

bool Shape::shares_bits_from(unsigned bit, BlockClass blocks) const {
  return has_steps() && !is_extended && bit <= zeros && stride >= 0 &&
         stride * (lanes_in_step(blocks) - 1) < (int64_t{1} << bit);
}

uint8_t counted_zeros(unsigned zeros) {
  return static_cast<uint8_t>(std::min<unsigned>(zeros, Shape::kMostZeros));
}

Shape stepped(Kind kind, int64_t stride, unsigned zeros, bool is_extended) {
  if (kind == Kind::Uniform) kind = Kind::Affine;
  if (stride == 0 && !is_extended && kind != Kind::Segmented) kind = Kind::Uniform;
  return {kind, is_extended, counted_zeros(zeros), stride};
}

Shape segmented(Shape shape, BlockClass blocks) {
  if (shape.kind == Kind::Affine) {
    const unsigned between = static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(shape.stride))) +
                             static_cast<unsigned>(std::countr_zero(segment_lanes(blocks)));
    shape.zeros = std::min(shape.zeros, counted_zeros(between));
  }
  shape.kind = Kind::Segmented;
  return shape;
}

Shape join(Shape a, Shape b, BlockClass blocks) {
  if (a.kind == Kind::Unknown) return b;
  if (b.kind == Kind::Unknown) return a;
  if (a.is_varying() || b.is_varying()) return kVarying;
  bring_together(a, b, blocks);
  if (a.kind != b.kind || a.stride != b.stride) return kVarying;
  a.zeros = std::min(a.zeros, b.zeros);
  a.is_extended |= b.is_extended;
  return a;
}

Shape scaled(Shape shape, int64_t factor) {
  int64_t stride = 0;
  if (shape.is_varying() || shape.kind == Kind::Unknown) return shape;
  if (factor == 0) return affine(0, Shape::kMostZeros);
  if (__builtin_mul_overflow(shape.stride, factor, &stride) || stride > INT32_MAX || stride < INT32_MIN)
    return kVarying;
  const auto zeros = static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(factor)));
  return stepped(shape.kind, stride, shape.zeros + zeros, shape.is_extended);
}

Shape sum(Shape a, Shape b, BlockClass blocks) {
  if (a.is_varying() || b.is_varying()) return kVarying;
  if (a.kind == Kind::Unknown || b.kind == Kind::Unknown) return {};
  const int64_t stride = a.stride + b.stride;  // each fits 32 bits
  if (stride > INT32_MAX || stride < INT32_MIN) return kVarying;
  if (!a.is_uniform() && !b.is_uniform()) bring_together(a, b, blocks);
  return stepped(a.is_uniform() ? b.kind : a.kind, stride, std::min(a.zeros, b.zeros), a.is_extended || b.is_extended);
}

bool is_monotonic(Shape shape, BlockClass blocks, const llvm::Type& type) {
  const unsigned width = type.getIntegerBitWidth();
  return width > 32 || std::abs(shape.stride) * (shape.lanes_in_step(blocks) - 1) < (int64_t{1} << (width - 1));
}

bool is_row(Shape addresses, llvm::Type* type, const llvm::DataLayout& layout) {
  const uint64_t bits = layout.getTypeStoreSizeInBits(type).getFixedValue();
  return addresses.has_steps() && addresses.stride * 8 == static_cast<int64_t>(bits) &&
         layout.getTypeSizeInBits(type).getFixedValue() == bits;
}

Shape shared_bits(Shape shape) {
  return shape.is_segmented() ? kFlat : kUniform;
}

}  // namespace cupola::cpu::build
