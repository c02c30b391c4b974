#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/mutex.h"
#include "hal/types.h"

namespace cupola::runtime {

/// What a program has said about a part of managed memory. Nothing moves: it is kept and reported. Numbers are CUDA's.
struct MemoryHint {
  struct Place {
    int type = 0, id = 0;  ///< CUmemLocation; type 0: none
    auto operator<=>(const Place&) const = default;
  };
  bool read_mostly = false;
  Place preferred, last_prefetch;
  std::set<Place> accessed_by;
  bool operator==(const MemoryHint&) const = default;
};

/// Hints by address, for managed memory of all devices. Any thread.
class MemoryHints {
 public:
  static MemoryHints& get();

  /// Calls `change(hint)` for every part of the range.
  template <typename Change>
  void change(hal::Address begin, uint64_t bytes, Change change) {
    Lock lock(mutex_);
    split(begin);
    split(begin + bytes);
    for (auto it = parts_.lower_bound(begin); it != parts_.end() && it->first < begin + bytes; ++it) change(it->second);
    for (auto it = parts_.lower_bound(begin); it != parts_.end() && it->first <= begin + bytes;)  // equals become one
      it = it != parts_.begin() && it->second == std::prev(it)->second ? parts_.erase(it) : std::next(it);
  }

  /// Calls `visit(hint)` for every part of the range until it returns false.
  template <typename Visit>
  void visit(hal::Address begin, uint64_t bytes, Visit visit) const {
    Lock lock(mutex_);
    for (auto it = std::prev(parts_.upper_bound(begin)); it != parts_.end() && it->first < begin + bytes; ++it)
      if (!visit(it->second)) return;
  }

  /// The memory is gone, or new.
  void forget(hal::Address begin, uint64_t bytes) {
    change(begin, bytes, [](MemoryHint& hint) { hint = {}; });
  }

 private:
  void split(hal::Address at) REQUIRES(mutex_) { parts_.emplace(at, std::prev(parts_.upper_bound(at))->second); }

  mutable Mutex mutex_;
  std::map<hal::Address, MemoryHint> parts_ GUARDED_BY(mutex_) = {{0, {}}};  ///< each reaches to the next
};

inline MemoryHints& MemoryHints::get() {
  static auto* const instance = new MemoryHints;  // leaked: used after static destructors
  return *instance;
}

}  // namespace cupola::runtime
