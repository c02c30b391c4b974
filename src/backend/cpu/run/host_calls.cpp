#include "backend/cpu/run/host_calls.h"

#include "backend/cpu/run/device_thread.h"

namespace cupola::cpu {

HostCalls::~HostCalls() {
  std::thread thread;
  {
    Lock lock(mutex_);
    stopping_ = true;
    thread.swap(thread_);
    changed_.notify_all();
  }
  if (thread.joinable()) thread.join();
}

Result<> HostCalls::submit(std::function<void()> call) {
  Lock lock(mutex_);
  if (!thread_.joinable()) {
    TRY(thread_, start_device_thread("cupola-host", [this] { loop(); }));
  }
  calls_.push_back(std::move(call));
  changed_.notify_all();
  return {};
}

void HostCalls::loop() {
  for (;;) {
    std::function<void()> call;
    {
      Lock lock(mutex_);
      while (calls_.empty() && !stopping_) changed_.wait(lock);
      if (calls_.empty()) return;
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    call();
  }
}

}  // namespace cupola::cpu
