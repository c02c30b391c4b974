#include "runtime/memory_watch.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#if defined(__linux__)
#include <sys/uio.h>
#endif

#include "base/log.h"
#include "base/mutex.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

/// False when the bytes cannot be read: memory may be unmapped while a stream still waits for it. Where the system
/// refuses to say, they are taken to be there.
bool readable(hal::Address address, unsigned bytes) {
#if defined(__linux__)
  uint64_t copy = 0;
  const iovec here{&copy, bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes) || errno != EFAULT;
#else
  (void)bytes;
  return address != 0;
#endif
}

template <typename Word>
bool compare(Word found, Word wanted, Comparison comparison) {
  switch (comparison) {
    case Comparison::GreaterOrEqual:
      return static_cast<std::make_signed_t<Word>>(found - wanted) >= 0;  // documented: cyclic
    case Comparison::Equal:
      return found == wanted;
    case Comparison::And:
      return (found & wanted) != 0;
    case Comparison::Nor:
      return static_cast<Word>(~(found | wanted)) != 0;
  }
  __builtin_unreachable();
}

/// The thread that looks. It starts with the first call that may wait for a value, which can be told if it does not;
/// where the value is found missing, in a queue, nobody could be.
class MemoryWatch {
 public:
  static MemoryWatch& get() {
    static auto* const instance = new MemoryWatch;  // leaked: streams may wait until the process ends
    return *instance;
  }

  Result<> start() {
    Lock lock(mutex_);
    if (started_) return {};
    try {
      std::thread([this] { run(); }).detach();
    } catch (const std::system_error& error) {
      return fail(ErrorCode::OperatingSystem,
                  "cannot start the thread that looks for awaited values: {}; allow the process more threads",
                  error.code().message());
    }
    started_ = true;
    return {};
  }

  void add(std::function<bool()> met, std::shared_ptr<hal::Semaphore> then) {
    if (met()) return then->signal(1);
    Lock lock(mutex_);
    watched_.push_back({std::move(met), std::move(then)});
    changed_.notify_all();
  }

 private:
  struct Watched {
    std::function<bool()> met;
    std::shared_ptr<hal::Semaphore> then;

    /// Also when nobody waits any more: a fault ends waits.
    bool is_over() const { return then.use_count() == 1 || met(); }
  };

  void run() {
    constexpr auto kShortest = std::chrono::microseconds(5), kLongest = std::chrono::microseconds(500);
    auto pause = kShortest;
    for (;;) {
      std::vector<Watched> over;
      {
        Lock lock(mutex_);
        while (watched_.empty()) changed_.wait(lock);
        const auto rest =
            std::partition(watched_.begin(), watched_.end(), [](const Watched& each) { return !each.is_over(); });
        std::move(rest, watched_.end(), std::back_inserter(over));
        watched_.erase(rest, watched_.end());
      }
      for (const Watched& each : over) each.then->signal(1);
      pause = over.empty() ? std::min(kLongest, pause * 2) : kShortest;
      std::this_thread::sleep_for(pause);
    }
  }

  Mutex mutex_;
  Condition changed_;
  bool started_ GUARDED_BY(mutex_) = false;
  std::vector<Watched> watched_ GUARDED_BY(mutex_);
};

/// What keeps the memory. Error: InvalidValue.
Result<std::shared_ptr<const void>> owner_of(hal::Address address, unsigned bytes) {
  if (address % bytes) return fail(ErrorCode::InvalidValue, "{:#x} is not aligned to {} bytes", address, bytes);
  const auto range = Runtime::get().addresses.find(address);
  if (!range || !range->holds(address, bytes))
    return fail(ErrorCode::InvalidValue, "{:#x} is neither device memory nor registered host memory", address);
  return range->owner;
}

}  // namespace

bool AwaitedValue::met() const {
  if (!readable(address, bytes)) {
    log::line(log::Topic::Error, "a stream waits for a value at {:#x}, but that memory is gone: it goes on", address);
    return true;
  }
  if (bytes == 8) {
    auto* const word = reinterpret_cast<uint64_t*>(address);  // NOLINT(performance-no-int-to-ptr)
    return compare<uint64_t>(std::atomic_ref(*word).load(std::memory_order_acquire), value, comparison);
  }
  auto* const word = reinterpret_cast<uint32_t*>(address);  // NOLINT(performance-no-int-to-ptr)
  return compare<uint32_t>(std::atomic_ref(*word).load(std::memory_order_acquire), static_cast<uint32_t>(value),
                           comparison);
}

Result<> start_watch() {
  return MemoryWatch::get().start();
}

void watch(std::function<bool()> met, std::shared_ptr<hal::Semaphore> then) {
  MemoryWatch::get().add(std::move(met), std::move(then));
}

Result<> append_commands(hal::Device& device, const MemoryOp& op, std::vector<hal::Command>& commands) {
  if (op.kind == MemoryOp::Kind::Barrier) return {};
  TRY(std::shared_ptr<const void> owner, owner_of(op.address, op.bytes));
  if (op.kind == MemoryOp::Kind::Write) {
    // Little-endian: the first bytes are the low ones. An aligned word of 4 or 8 bytes is written whole.
    const auto word = std::make_shared<const uint64_t>(op.value);
    commands.emplace_back(hal::Copy{.destination = op.address,
                                    .source = reinterpret_cast<hal::Address>(word.get()),
                                    .width = op.bytes,
                                    .destination_owner = std::move(owner),
                                    .source_owner = word});
    return {};
  }
  TRY(start_watch());
  const AwaitedValue awaited{op.address, op.value, op.bytes, op.comparison, std::move(owner)};
  const auto reached = device.create_semaphore(0), met = device.create_semaphore(0);
  reached->when(1, [awaited, met] { watch([awaited] { return awaited.met(); }, met); });
  commands.emplace_back(hal::Signal{reached, 1});
  commands.emplace_back(hal::Wait{met, 1});
  return {};
}

}  // namespace cupola::runtime
