#pragma once

#include <cstdint>

#include "image/thread_operations.h"

namespace cupola::cpu {

/// One of a block's 16 named barriers: counts threads, knows nobody. Not thread-safe.
/// PTX ISA, "barrier{.cta}": a barrier completes when the expected number of threads has arrived, and is then as new.
class Barrier {
 public:
  /// `threads` arrive. `count` is the number expected, 0 for all threads of the block that have not exited.
  void arrive(uint32_t count, uint32_t threads) {
    if (count) count_ = count;
    arrived_ += threads;
  }

  /// Adds the votes of threads that arrive: `yes` of them.
  void vote(uint32_t yes, uint32_t threads) {
    voters_ += threads;
    votes_ += yes;
  }

  /// True when the barrier is used and complete with `alive` threads left in the block.
  bool complete(uint32_t alive) const { return arrived_ && arrived_ >= (count_ ? count_ : alive); }

  /// The votes of the phase that is complete: how many, whether all, whether any.
  uint32_t reduction(image::BarrierOp op) const {
    if (op == image::BarrierOp::Popc) return votes_;
    return op == image::BarrierOp::And ? votes_ == voters_ : votes_ != 0;
  }

  void reset() { *this = {}; }

 private:
  uint32_t count_ = 0, arrived_ = 0, voters_ = 0, votes_ = 0;
};

inline constexpr uint32_t kBarriers = 16;

}  // namespace cupola::cpu
