#pragma once

#include <memory>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"

namespace cupola::cpu {

/// The one thread on which host functions of a domain's queues run. It starts with the first, and again when one comes
/// after it ended for want of work. Any thread.
class HostCalls {
 public:
  class Call {
   public:
    virtual void call() = 0;

   protected:
    ~Call() = default;

   private:
    friend class HostCalls;
    Call* next_ = nullptr;
  };

  explicit HostCalls(const char* thread = "cupola-host");
  ~HostCalls();  ///< after the calls that were submitted; may come on the thread itself

  /// `call` lives until it is called. Error: OperatingSystem when the thread cannot be started; the call is dropped.
  Result<> submit(Call& call);

 private:
  struct State;
  static void loop(State& state);
  const std::shared_ptr<State> state_;  ///< the thread's too
};

}  // namespace cupola::cpu
