#pragma once

#include <array>
#include <cstdint>

#include "base/kernel_info.h"

namespace cupola::image {

/// Which blocks of threads code for a warp is for. Rows: x is a multiple of 32, so that a warp lies in a row. Rows16
/// and Rows8: x is that, so that a warp is two or four whole rows; all warps of the block are full. Any: all others;
/// what a thread's place in the block is stands in a table.
enum class BlockClass : uint8_t { Rows, Rows16, Rows8, Any };

inline constexpr std::array kBlockClasses = {BlockClass::Rows, BlockClass::Rows16, BlockClass::Rows8, BlockClass::Any};

constexpr BlockClass class_of(const Dim3& block) {
  if (block.x % 32 == 0) return BlockClass::Rows;
  const bool is_full = block.count() % 32 == 0;
  return is_full && block.x == 16 ? BlockClass::Rows16 : is_full && block.x == 8 ? BlockClass::Rows8 : BlockClass::Any;
}

/// One T for each class.
template <typename T>
class ByBlockClass {
 public:
  constexpr ByBlockClass() = default;

  constexpr T& operator[](BlockClass blocks) { return items_[static_cast<size_t>(blocks)]; }
  constexpr const T& operator[](BlockClass blocks) const { return items_[static_cast<size_t>(blocks)]; }
  constexpr auto begin() { return items_.begin(); }
  constexpr auto end() { return items_.end(); }
  constexpr auto begin() const { return items_.begin(); }
  constexpr auto end() const { return items_.end(); }

 private:
  std::array<T, kBlockClasses.size()> items_{};
};

}  // namespace cupola::image
