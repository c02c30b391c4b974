#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

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

/// A word: free, held, or held while others sleep. Looks for a moment before it sleeps: what it guards takes less time
/// than a sleep and a wake-up. Clang's thread-safety analysis knows it.
class CAPABILITY("mutex") Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() ACQUIRE() {
    if (!take()) [[unlikely]]
      lock_when_free();
  }
  void unlock() RELEASE() {
    if (word_.exchange(kFree, std::memory_order_release) == kAwaited) [[unlikely]]
      wake_one();
  }

 private:
  static constexpr uint32_t kFree = 0, kHeld = 1, kAwaited = 2;

  bool take() {
    uint32_t free = kFree;
    return word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void lock_when_free();
  void wake_one();  ///< the mutex may have ended

  std::atomic<uint32_t> word_{kFree};
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

/// What threads that hold a Lock wait for.
class Condition {
 public:
  void notify_one() noexcept;
  void notify_all() noexcept;

  void wait(Lock& lock) { wait_until_told(lock.mutex_, std::nullopt); }

  /// False when the time is over.
  bool wait_for(Lock& lock, std::chrono::nanoseconds time) {
    return wait_until_told(lock.mutex_, static_cast<uint64_t>(time.count()));
  }

 private:
  /// Lets the mutex go meanwhile.
  bool wait_until_told(Mutex& mutex, std::optional<uint64_t> nanoseconds);

  std::atomic<uint32_t> word_{0};  ///< counts
  std::atomic<uint32_t> waiting_{0};
};

}  // namespace cupola
