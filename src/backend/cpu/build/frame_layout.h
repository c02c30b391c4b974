#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Alignment.h>

#include <algorithm>
#include <cstdint>

namespace llvm {
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// Where values lie in a frame: the most aligned first, so that there are no gaps between them. Frames of many warps
/// pass through the first cache again and again.
class FrameLayout {
 public:
  /// Of the frame and of each place in it: a line of the caches.
  static constexpr uint64_t kAlignment = 64;

  /// Makes room for a value that has none.
  void add(llvm::Value* value, uint64_t bytes, llvm::Align alignment) {
    if (room_.contains(value)) return;
    room_[value] = static_cast<unsigned>(rooms_.size());
    rooms_.push_back({.bytes = bytes, .alignment = std::min(alignment, llvm::Align(kAlignment))});
  }
  /// `value` has no room, or one that is left for that of `other`, which is as large: they are never needed at once.
  void share(llvm::Value* value, llvm::Value* other) {
    if (const auto own = room_.find(value); own != room_.end()) rooms_[own->second].bytes = 0;
    room_[value] = room_.lookup(other);
  }
  /// The value needs no room any more.
  void remove(llvm::Value* value) {
    rooms_[room_.lookup(value)].bytes = 0;
    room_.erase(value);
  }
  bool contains(const llvm::Value* value) const { return room_.contains(const_cast<llvm::Value*>(value)); }
  /// In the order in which they were added.
  auto values() const { return llvm::make_first_range(room_); }

  /// Once all are there. Returns the frame's size, a multiple of its alignment.
  uint64_t settle() {
    llvm::SmallVector<Room*, 16> order;
    for (Room& room : rooms_) order.push_back(&room);
    llvm::stable_sort(order, [](const Room* a, const Room* b) { return a->alignment > b->alignment; });
    uint64_t end = 0;
    for (Room* room : order) {
      if (room->bytes == 0) continue;
      room->offset = llvm::alignTo(end, room->alignment);
      end = room->offset + room->bytes;
    }
    return llvm::alignTo(end, kAlignment);
  }

  uint64_t offset(llvm::Value* value) const { return rooms_[room_.lookup(value)].offset; }
  llvm::Align alignment(llvm::Value* value) const { return rooms_[room_.lookup(value)].alignment; }

 private:
  struct Room {
    uint64_t bytes;
    llvm::Align alignment;
    uint64_t offset = 0;
  };
  llvm::SmallVector<Room, 16> rooms_;
  llvm::MapVector<llvm::Value*, unsigned> room_;  ///< which of them a value has
};

}  // namespace cupola::cpu::build
