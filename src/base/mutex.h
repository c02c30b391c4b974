#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/pause.h"

// Clang's thread-safety annotations (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html); nothing elsewhere.
#if defined(__clang__)
#define CUPOLA_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define CUPOLA_THREAD_ANNOTATION(x)
#endif
#define CAPABILITY(x) CUPOLA_THREAD_ANNOTATION(capability(x))
#define SCOPED_CAPABILITY CUPOLA_THREAD_ANNOTATION(scoped_lockable)
#define GUARDED_BY(x) CUPOLA_THREAD_ANNOTATION(guarded_by(x))
#define REQUIRES(...) CUPOLA_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) CUPOLA_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) CUPOLA_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) CUPOLA_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS CUPOLA_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace cupola {

/// std::mutex that clang's thread-safety analysis knows, and that looks for a moment before it sleeps: what it guards
/// takes less time than a sleep and a wake-up.
class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() {
    for (int looks = 0; looks < kLooks; ++looks) {
      if (mutex_.try_lock()) return;
      pause_briefly();
    }
    mutex_.lock();
  }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class Condition;
  static constexpr int kLooks = 100;  // some microseconds
  std::mutex mutex_;
};

/// Holds a Mutex for a scope; may be let go and taken again, so that Condition can wait on it.
class SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex), held_(true) { mutex_.lock(); }
  ~Lock() RELEASE() {
    if (held_) mutex_.unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  void lock() ACQUIRE() {
    mutex_.lock();
    held_ = true;
  }
  void unlock() RELEASE() {
    held_ = false;
    mutex_.unlock();
  }

 private:
  friend class Condition;
  Mutex& mutex_;
  bool held_;
};

/// What threads that hold a Lock wait for. std::condition_variable on the mutex itself: it has no second one.
class Condition {
 public:
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  void wait(Lock& lock) {
    std::unique_lock inner(lock.mutex_.mutex_, std::adopt_lock);
    condition_.wait(inner);
    inner.release();
  }

  /// False when the time is over.
  template <typename Rep, typename Period>
  bool wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& time) {
    std::unique_lock inner(lock.mutex_.mutex_, std::adopt_lock);
    const bool notified = condition_.wait_for(inner, time) == std::cv_status::no_timeout;
    inner.release();
    return notified;
  }

 private:
  std::condition_variable condition_;
};

}  // namespace cupola
