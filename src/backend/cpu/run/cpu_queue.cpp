#include "backend/cpu/run/cpu_queue.h"

#include <chrono>
#include <deque>

#include "backend/cpu/run/cpu_semaphore.h"
#include "backend/cpu/run/transfer.h"
#include "backend/cpu/run/worker.h"

namespace cupola::cpu {
namespace {

uint64_t now_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

/// A function that is called once, by the first of several who may.
class Once {
 public:
  explicit Once(std::function<void()> function) : function_(std::move(function)) {}
  void call() {
    if (!called_.exchange(true)) function_();
  }

 private:
  std::function<void()> function_;
  std::atomic<bool> called_{false};
};

}  // namespace

void BusyQueues::enter() {
  Lock lock(mutex_);
  ++count_;
}

void BusyQueues::leave() {
  Lock lock(mutex_);
  if (--count_ == 0) none_.notify_all();
}

void BusyQueues::wait_until_none() {
  Lock lock(mutex_);
  while (count_) none_.wait(lock);
}

class CpuQueue::State : public std::enable_shared_from_this<State> {
 public:
  State(const QueueServices& services, std::shared_ptr<CpuDomain> domain)
      : services_(services), domain_(std::move(domain)), progress_(std::make_shared<CpuSemaphore>(0, domain_)) {}

  uint64_t enqueue(hal::Command command) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    commands_.push_back(std::move(command));
    set_busy(true);
    return ++submitted_;
  }

  void start() EXCLUDES(mutex_) {
    {
      Lock lock(mutex_);
      if (pumping_ || in_flight_ || commands_.empty()) return;
      pumping_ = true;
    }
    pump();
  }

  const std::shared_ptr<hal::Semaphore>& progress() const { return progress_; }

 private:
  /// Starts commands until one is in flight or none is left. One thread at a time: the one that set pumping_.
  void pump() EXCLUDES(mutex_) {
    for (;;) {
      hal::Command command;
      {
        Lock lock(mutex_);
        if (in_flight_ || commands_.empty()) {
          pumping_ = false;
          if (!in_flight_) set_busy(false);
          return;
        }
        command = std::move(commands_.front());
        commands_.pop_front();
        in_flight_ = true;
      }
      if (start(std::move(command))) finish_head();
    }
  }

  void set_busy(bool busy) REQUIRES(mutex_) {
    if (busy == busy_) return;
    busy_ = busy;
    busy ? services_.busy.enter() : services_.busy.leave();
  }

  /// The command in flight is done, on any thread.
  void completed() EXCLUDES(mutex_) {
    finish_head();
    {
      Lock lock(mutex_);
      if (pumping_ || in_flight_) return;
      pumping_ = true;
    }
    pump();
  }

  /// in_flight_ goes last: who sees it false may start the next, whose progress must come after this one's.
  void finish_head() EXCLUDES(mutex_) {
    progress_->signal(++finished_);
    Lock lock(mutex_);
    in_flight_ = false;
  }

  std::function<void()> completion() {
    return [self = shared_from_this()] { self->completed(); };
  }

  /// True if the command is already done.
  bool start(hal::Command command) {
    return std::visit([this](auto& each) { return run(each); }, command);
  }

  bool faulted() const { return domain_->faults.any(); }

  bool run(hal::Launch& launch) {
    if (faulted()) return true;
    const uint32_t resident = services_.most_resident(static_cast<uint32_t>(launch.block.count()));
    services_.pool.submit(std::make_shared<Grid>(std::move(launch), services_.pool, resident, domain_, completion()));
    return false;
  }

  bool run(hal::Copy& copy) { return transfer(copy); }
  bool run(hal::Fill& fill) { return transfer(fill); }

  template <typename Command>
  bool transfer(const Command& command) {
    if (faulted()) return true;
    auto work = make_transfer(command, domain_, completion());
    if (work->count() == 0) return true;
    services_.pool.submit(std::move(work));
    return false;
  }

  bool run(hal::HostCall& call) {
    if (faulted()) return true;
    auto submitted = services_.host_calls.submit([function = std::move(call.function), done = completion()] {
      function();
      done();
    });
    if (submitted) return false;
    domain_->faults.record(std::move(submitted).error());
    return true;
  }

  bool run(hal::Callback& callback) {
    auto submitted = services_.host_calls.submit([domain = domain_, function = callback.function, done = completion()] {
      const std::optional<Error> fault = domain->faults.get();
      function(fault ? &*fault : nullptr);
      done();
    });
    if (submitted) return false;
    const Error error = std::move(submitted).error();
    domain_->faults.record(error);
    callback.function(&error);
    return true;
  }

  bool run(hal::Wait& wait) {
    if (faulted() || wait.semaphore->value() >= wait.value) return true;
    const auto once = std::make_shared<Once>(completion());
    const uint64_t listener = domain_->faults.listen([once] { once->call(); });
    wait.semaphore->when(wait.value, [once, listener, domain = domain_] {
      if (listener) domain->faults.forget(listener);
      once->call();
    });
    return false;
  }

  bool run(hal::Signal& signal) {
    signal.semaphore->signal(signal.value);
    return true;
  }

  bool run(hal::Timestamp& timestamp) {
    timestamp.nanoseconds->store(now_nanoseconds(), std::memory_order_release);
    return true;
  }

  const QueueServices services_;
  const std::shared_ptr<CpuDomain> domain_;
  const std::shared_ptr<hal::Semaphore> progress_;
  std::atomic<uint64_t> finished_{0};
  Mutex mutex_;
  std::deque<hal::Command> commands_ GUARDED_BY(mutex_);
  uint64_t submitted_ GUARDED_BY(mutex_) = 0;
  bool in_flight_ GUARDED_BY(mutex_) = false;
  bool pumping_ GUARDED_BY(mutex_) = false;
  bool busy_ GUARDED_BY(mutex_) = false;
};

CpuQueue::CpuQueue(const QueueServices& services, std::shared_ptr<CpuDomain> domain)
    : state_(std::make_shared<State>(services, std::move(domain))) {}

uint64_t CpuQueue::enqueue(hal::Command command) {
  return state_->enqueue(std::move(command));
}

void CpuQueue::start() {
  state_->start();
}

const std::shared_ptr<hal::Semaphore>& CpuQueue::progress() const {
  return state_->progress();
}

}  // namespace cupola::cpu
