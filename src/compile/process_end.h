#pragma once

#include <atomic>

namespace cupola {

/// Something that compiles, which the end of the process waits for: LLVM's objects are destroyed then, and a thread
/// that nobody waits for may be using them. From the end on nothing begins any more, and what goes on is given up soon.
/// What LLVM makes when it first needs it may be destroyed before the wait while that first use goes on. Any thread;
/// may nest.
class Compiling {
 public:
  Compiling();
  ~Compiling();
  Compiling(const Compiling&) = delete;
  Compiling& operator=(const Compiling&) = delete;

  /// Whether it may begin.
  bool may_begin() const { return counted_; }

  /// Set when the process ends.
  static const std::atomic<bool>& process_ends();

 private:
  void leave();

  bool counted_ = false;
};

}  // namespace cupola
