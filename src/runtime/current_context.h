#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/capture_mode.h"

namespace cupola::runtime {

class Context;

/// What a thread keeps: its stack of current contexts. Usable until the process ends, after static destructors too.
class ThreadState {
 public:
  static ThreadState& get();

  uint64_t id() const { return id_; }
  std::vector<std::shared_ptr<Context>>& contexts() { return contexts_; }

  /// While above zero, the default stream of the thread's calls is its own; for the _ptsz and _ptds functions.
  int per_thread_calls = 0;

  /// How the thread's calls and captures get on: cuThreadExchangeStreamCaptureMode.
  CaptureMode capture_mode = CaptureMode::Global;

  ThreadState();
  ~ThreadState();

 private:
  const uint64_t id_;
  std::vector<std::shared_ptr<Context>> contexts_;
};

/// The thread's current context. Errors: InvalidContext when there is none, ContextIsDestroyed, or the context's fault.
Result<std::shared_ptr<Context>> current_context();

/// As current_context, but the context's fault is no error: for calls that only ask or tidy up.
Result<std::shared_ptr<Context>> current_context_even_if_faulted();

}  // namespace cupola::runtime
