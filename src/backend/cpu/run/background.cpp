#include "backend/cpu/run/background.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <utility>

#include "backend/cpu/run/device_thread.h"
#include "backend/cpu/run/host_calls.h"

namespace cupola::cpu {
namespace {

constinit std::atomic<uint32_t> pending = 0;
constinit std::atomic<bool> over = false;

#if defined(__linux__)
bool is_main_thread() {
  return getpid() == gettid();
}
#else
bool is_main_thread() {
  return pthread_main_np() != 0;
}
#endif

struct End {
  ~End() {
    over.store(true);
    Background::wait_until_idle();
  }
};

/// Ends itself.
class Piece final : public HostCalls::Call {
 public:
  explicit Piece(std::function<void()> work) : work_(std::move(work)) {
    pending.fetch_add(1, std::memory_order_relaxed);
  }
  ~Piece() {
    work_ = nullptr;  // what it holds goes first
    pending.fetch_sub(1, std::memory_order_release);
    pending.notify_all();
  }

  void call() override {
    const std::unique_ptr<Piece> self(this);
    if (over.load()) return;
    thread_local const bool lowered = (lower_priority_of_this_thread(), true);
    (void)lowered;
    work_();
  }

 private:
  std::function<void()> work_;
};

/// Leaked: threads of a process that ends may still submit.
HostCalls& calls() {
  static auto* const calls = new HostCalls("cupola-later");
  return *calls;
}

}  // namespace

void Background::ends_with_main_thread() {
  if (!is_main_thread()) return;
  thread_local const End end;
  (void)end;
}

Result<> Background::submit(std::function<void()> work) {
  static const bool forgets = [] {  // in a child the thread is not there
    pthread_atfork(nullptr, nullptr, [] { pending.store(0); });
    return true;
  }();
  (void)forgets;
  auto piece = std::make_unique<Piece>(std::move(work));
  TRY(calls().submit(*piece));
  (void)piece.release();
  return {};
}

void Background::wait_until_idle() {
  while (const uint32_t count = pending.load(std::memory_order_acquire)) pending.wait(count);
}

}  // namespace cupola::cpu
