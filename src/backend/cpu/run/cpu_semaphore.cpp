#include "backend/cpu/run/cpu_semaphore.h"

#include "backend/cpu/run/ready.h"
#include "base/pause.h"
#include "base/platform.h"
#include "base/steady_clock.h"
#include "base/wait_word.h"

// Signalling takes the lock only when somebody waits. The signaller raises the value and then looks whether there are
// waiters; a waiter counts itself and then looks at the value: in the one order of all such accesses (seq_cst), one of
// the two sees the other.

namespace cupola::cpu {
namespace {

constexpr uint32_t kReached = 1, kFault = 2;

/// A host thread that sleeps.
class Sleeper final : public SemaphoreWaiter, public DeviceFault::Sleeper {
 public:
  void reached() override {
    reached_at = steady_nanoseconds();
    word.raise(kReached);
  }
  void fault_recorded() override { word.raise(kFault); }
  WaitWord word;
  uint64_t reached_at = 0;  ///< by the steady clock; read once the word says so
};

/// What when() leaves. Owns itself.
class Call final : public SemaphoreWaiter, public Ready {
 public:
  explicit Call(std::function<void()> then) : then_(std::move(then)) {}
  void reached() override { run_in_turn(*this); }
  void abandoned() override { const std::unique_ptr<Call> own(this); }
  void run() override {
    const std::unique_ptr<Call> own(this);
    then_();
  }

 private:
  const std::function<void()> then_;
};

}  // namespace

CpuSemaphore::~CpuSemaphore() {
  Lock lock(mutex_);
  while (SemaphoreWaiter* waiter = first_) {
    unlink(*waiter);
    waiter->abandoned();
  }
}

void CpuSemaphore::signal(uint64_t value) {
  uint64_t before = value_.load(std::memory_order_relaxed);
  do {
    if (value <= before) return;
  } while (!value_.compare_exchange_weak(before, value, std::memory_order_seq_cst));
  if (waiters_.load(std::memory_order_seq_cst) == 0) return;
  SemaphoreWaiter *told = nullptr, **end = &told;
  {
    Lock lock(mutex_);
    while (first_ && first_->awaited_ <= value) {
      SemaphoreWaiter& waiter = *first_;
      unlink(waiter);
      *end = &waiter;
      end = &waiter.after_;
    }
    *end = nullptr;
  }
  while (told) {
    SemaphoreWaiter& waiter = *told;
    told = waiter.after_;  // before it is told: it may end then
    waiter.reached();
  }
}

Result<> CpuSemaphore::wait(uint64_t value) {
  CUPOLA_NEAR_THREAD_LOCAL static constinit HostPatience patience;
  const auto over = [&] { return this->value() >= value || domain_->faults.any(); };
  if (!over()) {
    const auto wait_awake = [&] {
      const auto helper = helper_.lock();
      return helper ? helper->help(over, patience) : patience.spin(/*has_place=*/false, over);
    };
    if (!wait_awake()) patience.came_at(sleep(value));
  }
  if (auto error = domain_->faults.get()) return fail(std::move(*error));
  return {};
}

/// When the value was reached, by the steady clock; or about now.
uint64_t CpuSemaphore::sleep(uint64_t value) {
  Sleeper sleeper;
  if (!domain_->faults.add(sleeper)) return steady_nanoseconds();
  const bool waits = add(sleeper, value);
  if (waits) sleeper.word.wait();
  domain_->faults.remove(sleeper);
  if (!waits || remove(sleeper)) return steady_nanoseconds();
  while (!(sleeper.word.bits() & kReached)) pause_briefly();  // the signaller is about to
  return sleeper.reached_at;
}

void CpuSemaphore::when(uint64_t value, std::function<void()> then) {
  auto call = std::make_unique<Call>(std::move(then));
  if (add(*call, value))
    (void)call.release();
  else
    call.release()->run();
}

bool CpuSemaphore::add(SemaphoreWaiter& waiter, uint64_t value) {
  Lock lock(mutex_);
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  if (value_.load(std::memory_order_seq_cst) >= value) {
    waiters_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  waiter.awaited_ = value;
  link(waiter);
  return true;
}

bool CpuSemaphore::remove(SemaphoreWaiter& waiter) {
  Lock lock(mutex_);
  if (!waiter.listed_) return false;
  unlink(waiter);
  return true;
}

/// Behind those that wait for as much or less; later waiters mostly wait for later values.
void CpuSemaphore::link(SemaphoreWaiter& waiter) {
  SemaphoreWaiter* before = last_;
  while (before && before->awaited_ > waiter.awaited_) before = before->before_;
  waiter.before_ = before;
  waiter.after_ = before ? before->after_ : first_;
  (waiter.before_ ? waiter.before_->after_ : first_) = &waiter;
  (waiter.after_ ? waiter.after_->before_ : last_) = &waiter;
  waiter.listed_ = true;
}

void CpuSemaphore::unlink(SemaphoreWaiter& waiter) {
  (waiter.before_ ? waiter.before_->after_ : first_) = waiter.after_;
  (waiter.after_ ? waiter.after_->before_ : last_) = waiter.before_;
  waiter.listed_ = false;
  waiters_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace cupola::cpu
