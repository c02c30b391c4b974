#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"

namespace cupola::cpu {

/// The one thread on which host functions of queues run, "cupola-host"; starts with the first. Any thread.
class HostCalls {
 public:
  HostCalls() = default;
  ~HostCalls();  ///< after the calls that were submitted

  /// Error: OperatingSystem when the thread cannot be started; the call is dropped.
  Result<> submit(std::function<void()> call);

 private:
  void loop();

  Mutex mutex_;
  Condition changed_;
  std::deque<std::function<void()>> calls_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace cupola::cpu
