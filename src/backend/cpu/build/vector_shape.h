#pragma once

#include <cstdint>

#include "image/block_class.h"
#include "image/cpu_abi.h"

namespace llvm {
class DataLayout;
class Type;
}  // namespace llvm

// How a value differs between the 32 lanes of a warp, and what arithmetic makes of that.

namespace cupola::cpu::build {

inline constexpr unsigned kLanes = image::cpu::kWarp;

using image::BlockClass;

/// The lanes of a warp that lie in one row of the block for certain: a segment. 32: there is no more to it than lanes.
constexpr unsigned segment_lanes(BlockClass blocks) {
  return blocks == BlockClass::Rows16 ? 16 : blocks == BlockClass::Rows8 ? 8 : kLanes;
}

/// Modulo its type's width,
/// - Uniform: the same in all lanes.
/// - Affine: lane 0's value plus `stride` for each lane.
/// - Periodic: the same in each segment: lane 0's plus `stride` for each lane of it (threadIdx.x).
/// - Segmented: each segment's first lane has a base of its own, to which its lanes add `stride` each (threadIdx.y: 0).
/// - Varying: nothing is known.
/// Periodic and Segmented occur only where a warp has several segments. Each kind that is not Varying is Segmented too.
struct Shape {
  enum class Kind : uint8_t { Unknown, Uniform, Affine, Periodic, Segmented, Varying };
  Kind kind = Kind::Unknown;
  /// It has steps as long as extensions of narrower numbers do not wrap, which the kernel tests when it runs.
  bool is_extended = false;
  uint8_t zeros = 0;  ///< so many low bits of lane 0's value, or of all bases, are known to be zero; at most kMostZeros
  int64_t stride = 0;

  static constexpr uint8_t kMostZeros = 31;

  bool operator==(const Shape&) const = default;
  bool is_varying() const { return kind == Kind::Varying; }
  bool is_uniform() const { return kind == Kind::Uniform; }
  bool is_segmented() const { return kind == Kind::Segmented; }
  /// What lane 0 or the first lanes of segments have, plus steps.
  bool has_steps() const { return kind == Kind::Affine || kind == Kind::Periodic || kind == Kind::Segmented; }
  /// The same in the lanes of a segment, for certain.
  bool is_flat() const { return is_uniform() || (is_segmented() && stride == 0 && !is_extended); }

  /// The lanes beside each other that `stride` holds for.
  unsigned lanes_in_step(BlockClass blocks) const { return kind == Kind::Affine ? kLanes : segment_lanes(blocks); }
  /// These lanes' values share the bits from `bit` on: none of the additions to the first one's carries into them.
  bool shares_bits_from(unsigned bit, BlockClass blocks) const;
};

inline constexpr Shape kUniform{Shape::Kind::Uniform}, kVarying{Shape::Kind::Varying};
/// The same in the lanes of each segment.
inline constexpr Shape kFlat{Shape::Kind::Segmented};

/// Zero bits as Shape counts them.
uint8_t counted_zeros(unsigned zeros);

/// Of that kind, or simpler.
Shape stepped(Shape::Kind kind, int64_t stride, unsigned zeros = 0, bool is_extended = false);
inline Shape affine(int64_t stride, unsigned zeros = 0) {
  return stepped(Shape::Kind::Affine, stride, zeros);
}

/// What is known of the value's bases. Neither varying nor unknown.
Shape segmented(Shape shape, BlockClass blocks);
/// What is left without the bits in which lanes differ, see shares_bits_from().
Shape shared_bits(Shape shape);

/// Of a value that is one or the other, the same one in all lanes.
Shape join(Shape a, Shape b, BlockClass blocks);
Shape scaled(Shape shape, int64_t factor);
Shape sum(Shape a, Shape b, BlockClass blocks);

/// Lanes' values wrap once at most, so that it is enough to look at the last lane's.
bool is_monotonic(Shape shape, BlockClass blocks, const llvm::Type& type);

/// Whether addresses are such that numbers of the type lie beside each other there, in lanes of which `stride` holds.
bool is_row(Shape addresses, llvm::Type* type, const llvm::DataLayout& layout);

}  // namespace cupola::cpu::build
