#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace cupola::cpu {

/// What of a work's items nobody has taken yet: in one run, or in a part for each core, so that from one work to the
/// next over the same data a core finds in its caches what it had there. Not thread-safe.
class ItemsLeft {
 public:
  static constexpr uint32_t kMostParts = 16;
  static constexpr uint64_t kLeastOfPart = 8;  ///< items: fewer are not worth a part, and are taken in order

  /// A contiguous run of items; empty when begin is end.
  struct Run {
    uint64_t begin = 0, end = 0;
    uint64_t size() const { return end - begin; }
  };

  explicit ItemsLeft(uint64_t count) : left_(count) { parts_[0] = {0, count}; }

  /// Into as many equal parts as make sense for so many takers (1 or more). Before the first take().
  void divide(uint32_t takers) {
    const uint64_t count = left_;
    const uint64_t worth = std::min<uint64_t>({takers, kMostParts, count / kLeastOfPart});
    count_ = static_cast<uint32_t>(std::max<uint64_t>(1, worth));
    takers_of_part_ = (takers + count_ - 1) / count_;
    const uint64_t size = count / count_, longer = count % count_;  // the first ones have one more
    uint64_t begin = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      const uint64_t end = begin + size + (i < longer ? 1 : 0);
      parts_[i] = {begin, end};
      begin = end;
    }
  }

  uint32_t parts() const { return count_; }
  uint64_t left() const { return left_; }

  /// The next ones of a part, at its front; when it is used up, of the part with the most left, at its end. Runs shrink
  /// as parts do, to one item; empty when nothing is left.
  Run take(uint32_t part) {
    Run& own = parts_[part];
    if (own.size() != 0) {
      const uint64_t begin = own.begin;
      own.begin += share(own);
      return taken({begin, own.begin});
    }
    Run& other = *std::max_element(parts_.begin(), parts_.begin() + count_,
                                   [](const Run& a, const Run& b) { return a.size() < b.size(); });
    if (other.size() == 0) return {};
    const uint64_t end = other.end;
    other.end -= share(other);
    return taken({other.end, end});
  }

  /// The first item, alone; there is one, and one part.
  Run take_one() { return taken({parts_[0].begin, ++parts_[0].begin}); }

  /// Takes all that are left; returns how many.
  uint64_t clear() {
    for (Run& part : parts_) part = {};
    return std::exchange(left_, 0);
  }

 private:
  /// How much of a part is taken at a time: the last ones end at about the same time.
  uint64_t share(const Run& part) const { return std::max<uint64_t>(1, part.size() / (2 * uint64_t{takers_of_part_})); }

  Run taken(Run run) {
    left_ -= run.size();
    return run;
  }

  std::array<Run, kMostParts> parts_;
  uint64_t left_;
  uint32_t count_ = 1, takers_of_part_ = 1;
};

}  // namespace cupola::cpu
