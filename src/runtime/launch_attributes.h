#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace cupola::runtime {

/// Attributes of a launch, a kernel node or a stream as a program gave them: CUDA's numbers and values.
class LaunchAttributes {
 public:
  using Value = std::array<std::byte, 64>;  ///< of which an attribute uses the first bytes

  /// Null when it was never set.
  const Value* find(int id) const {
    for (const auto& [known, value] : entries_)
      if (known == id) return &value;
    return nullptr;
  }
  void set(int id, const Value& value) {
    for (auto& [known, old] : entries_)
      if (known == id) return void(old = value);
    entries_.emplace_back(id, value);
  }

 private:
  std::vector<std::pair<int, Value>> entries_;
};

}  // namespace cupola::runtime
