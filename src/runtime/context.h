#pragma once

#include <array>
#include <memory>
#include <set>
#include <unordered_map>

#include "base/mutex.h"
#include "hal/domain.h"
#include "image/device_facts.h"
#include "runtime/stream.h"

namespace cupola::runtime {

class Device;

/// A CUDA context: the streams, events, modules and memory of one user of a device. Handles of contexts are looked up
/// like all others; the primary context of a device lives for ever and is active while it is retained. Any thread.
class Context {
 public:
  Context(Device& device, bool primary);
  ~Context();

  Device& device() const { return device_; }
  bool primary() const { return primary_; }
  /// Unique; a context that ends gets another one, so that a primary context which was reset can be told from before.
  uint64_t id() const { return id_.load(); }
  const std::shared_ptr<StreamOrder>& order() const { return order_; }
  /// A kernel's error breaks the context that it ran in; other contexts of the device go on.
  const std::shared_ptr<hal::Domain>& domain() const { return domain_; }

  bool active() const { return active_.load(std::memory_order_acquire); }
  /// Error: ContextIsDestroyed while not active, or the context's fault.
  Result<> check() const;

  unsigned flags() const { return flags_.load(); }
  void set_flags(unsigned flags) { flags_.store(flags); }

  /// Counts users of the primary context, and activates it unless it is active.
  void retain() EXCLUDES(lifetime_);
  /// The last user's release deactivates it. Error: InvalidContext without a retain.
  Result<> release() EXCLUDES(lifetime_);
  /// Frees everything the context holds, and clears its fault. Its handles are invalid afterwards. The context
  /// itself is active again with the next retain. Its users stay: "CUDA Driver API, cuDevicePrimaryCtxReset": resetting
  /// does not release.
  void deactivate() EXCLUDES(lifetime_);

  /// The default streams; made at first use. Error: what the device says.
  Result<std::shared_ptr<Stream>> legacy_stream();
  Result<std::shared_ptr<Stream>> per_thread_stream();
  /// The thread has ended, and with it its stream.
  void drop_per_thread_stream(uint64_t thread);

  /// Waits until everything submitted is done, and shows what kernels printed. Error: the context's fault.
  Result<> synchronize();

  /// CUDA's limits by number. The size of the malloc heap and the count of pending launches count, from the next kernel
  /// on; the others are kept and reported: stacks are as large as they get, and what kernels print is never lost.
  Result<uint64_t> limit(int which) const;
  Result<> set_limit(int which, uint64_t value);

  /// Whether kernels of this context may use the peer's memory: kept and reported, for addresses are unified. Errors:
  /// PeerAccessUnsupported for a context of the same device, PeerAccessAlreadyEnabled, PeerAccessNotEnabled.
  Result<> enable_peer(const Context& peer);
  Result<> disable_peer(const Context& peer);

  std::atomic<int> cache_config{0};  ///< a hint, kept and reported

 private:
  void end() REQUIRES(lifetime_);
  void take_limit(size_t which, uint64_t value) REQUIRES(mutex_);

  Device& device_;
  const bool primary_;
  std::atomic<uint64_t> id_;
  const std::shared_ptr<StreamOrder> order_ = std::make_shared<StreamOrder>();
  const std::shared_ptr<hal::Domain> domain_;
  const std::shared_ptr<image::DeviceFacts> facts_;
  std::atomic<unsigned> flags_{0};
  std::atomic<bool> active_;
  Mutex lifetime_;  ///< held while the context begins or ends, so that a retain is never lost in between
  mutable Mutex mutex_;
  unsigned users_ GUARDED_BY(mutex_) = 0;
  std::shared_ptr<Stream> legacy_ GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> per_thread_ GUARDED_BY(mutex_);
  std::array<uint64_t, 10> limits_ GUARDED_BY(mutex_);
  std::set<uint64_t> peers_ GUARDED_BY(mutex_);  ///< by id, so that a context that ended is none
};

/// Stream priorities: a hint, kept and reported. Lower is more urgent.
inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;

/// Destroys a context that cuCtxCreate made. Error: InvalidContext.
Result<> destroy_context(const void* handle);

}  // namespace cupola::runtime
