#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/kernel_info.h"

namespace cupola::image {

/// Of a block, on every device.
inline constexpr uint32_t kMostThreads = 1024;

/// Which blocks of threads code for a warp is for. Rows: x is a multiple of 32, so that a warp lies in a row. Rows16
/// and Rows8: x is that, so that a warp is two or four whole rows; all warps of the block are full. Line: y and z are
/// 1; the last warp is not full. Any: all others; what a thread's place in the block is stands in a table. One: a
/// single thread; its code runs any block, a thread at a time.
enum class BlockClass : uint8_t { Rows, Rows16, Rows8, Line, Any, One };

inline constexpr std::array kAllBlockClasses = {BlockClass::Rows, BlockClass::Rows16, BlockClass::Rows8,
                                                BlockClass::Line, BlockClass::Any,    BlockClass::One};
/// Those that code for a warp is made for.
inline constexpr std::array kBlockClasses = {BlockClass::Rows, BlockClass::Rows16, BlockClass::Rows8, BlockClass::Line,
                                             BlockClass::Any};

/// How a class is called.
struct BlockClassName {
  std::string_view name;   ///< in requests
  std::string_view words;  ///< for people, behind "blocks"
};

inline constexpr std::array<BlockClassName, kAllBlockClasses.size()> kBlockClassNames = {{
    {"rows", "whose x is a multiple of 32"},
    {"rows16", "of rows of 16 and full warps"},
    {"rows8", "of rows of 8 and full warps"},
    {"line", "of one dimension, with other x"},
    {"any", "of all other shapes"},
    {"one", "of one thread"},
}};

constexpr const BlockClassName& name_of(BlockClass blocks) {
  return kBlockClassNames[static_cast<size_t>(blocks)];
}

/// Threads of a warp lie beside each other in a row of the block, so that the first one's place says all of theirs.
constexpr bool is_in_row(BlockClass blocks) {
  return blocks == BlockClass::Rows || blocks == BlockClass::Line;
}

/// The block's last warp may be part of one.
constexpr bool may_be_partial(BlockClass blocks) {
  return blocks == BlockClass::Line || blocks == BlockClass::Any;
}

constexpr BlockClass class_of(const Dim3& block) {
  if (block.count() == 1) return BlockClass::One;
  if (block.x % 32 == 0) return BlockClass::Rows;
  if (block.y == 1 && block.z == 1) return BlockClass::Line;
  const bool is_full = block.count() % 32 == 0;
  return is_full && block.x == 16 ? BlockClass::Rows16 : is_full && block.x == 8 ? BlockClass::Rows8 : BlockClass::Any;
}

/// Which blocks a kernel's code is for: those of a class, or of one shape in it; and what matters of it.
struct BlocksOfCode {
  BlockClass blocks{};
  std::optional<Dim3> shape = {};
  bool hot = false;  ///< of a shape: made to run fast, however long that takes; else made to be there soon
  bool operator==(const BlocksOfCode&) const = default;
};

/// As requests have it: "rows", "rows16-16x16x1", "rows16-16x16x1-hot".
std::string request_name(const BlocksOfCode& code);
/// Nothing for any other text, a shape of another class and one of more threads than a block may have.
std::optional<BlocksOfCode> blocks_requested(std::string_view name);
/// For people, behind "blocks".
std::string words_of(const BlocksOfCode& code);

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
  std::array<T, kAllBlockClasses.size()> items_{};
};

}  // namespace cupola::image
