#include "backend/cpu/run/host_calls.h"

#include <chrono>

#include "backend/cpu/run/device_thread.h"

namespace cupola::cpu {
namespace {

constexpr std::chrono::seconds kIdle{2};  // then the thread ends

}  // namespace

struct HostCalls::State {
  explicit State(const char* thread) : name(thread) {}

  const char* const name;
  Mutex mutex;
  Condition changed;
  Call* first GUARDED_BY(mutex) = nullptr;
  Call* last GUARDED_BY(mutex) = nullptr;
  bool stopping GUARDED_BY(mutex) = false;
  bool running GUARDED_BY(mutex) = false;  ///< the thread will look again
  std::thread thread GUARDED_BY(mutex);
};

HostCalls::HostCalls(const char* thread) : state_(std::make_shared<State>(thread)) {}

HostCalls::~HostCalls() {
  std::thread thread;
  {
    Lock lock(state_->mutex);
    state_->stopping = true;
    thread.swap(state_->thread);
    state_->changed.notify_one();
  }
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();  // a call dropped the last reference to the domain
  else
    thread.join();
}

Result<> HostCalls::submit(Call& call) {
  State& state = *state_;
  Lock lock(state.mutex);
  if (!state.running) {
    TRY(state.thread, start_device_thread(state.name, [shared = state_] { loop(*shared); }));
    state.running = true;
  }
  call.next_ = nullptr;
  (state.last ? state.last->next_ : state.first) = &call;
  state.last = &call;
  state.changed.notify_one();
  return {};
}

void HostCalls::loop(State& state) {
  for (;;) {
    Call* call = nullptr;
    {
      Lock lock(state.mutex);
      while (!state.first && !state.stopping) {
        if (state.changed.wait_for(lock, kIdle) || state.first || state.stopping) continue;
        state.running = false;
        state.thread.detach();  // nobody need wait for its way out
        return;
      }
      call = state.first;
      if (!call) return;
      state.first = call->next_;
      if (!state.first) state.last = nullptr;
    }
    call->call();
  }
}

}  // namespace cupola::cpu
