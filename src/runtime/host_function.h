#pragma once

#include "base/platform.h"
#include "base/trace.h"

namespace cupola::runtime {

/// While it lives, the thread runs a function that the program gave to a stream; traces show it. Calls of the API are
/// refused meanwhile: they might wait for the stream that waits for the function. "CUDA Driver API, cuLaunchHostFunc:
/// The host function must not make any CUDA API calls. Attempting to use a CUDA API may result in
/// CUDA_ERROR_NOT_PERMITTED."
class InHostFunction {
 public:
  InHostFunction() {
    ++depth_;
    if (trace::recording()) begin_ = trace::now();
  }
  ~InHostFunction() {
    --depth_;
    if (begin_)
      trace::record({.kind = trace::Kind::HostFunction, .begin = begin_, .end = trace::now(), .name = "host function"});
  }
  InHostFunction(const InHostFunction&) = delete;
  InHostFunction& operator=(const InHostFunction&) = delete;

  static bool here() { return depth_ > 0; }

 private:
  CUPOLA_NEAR_THREAD_LOCAL static inline constinit int depth_ = 0;
  uint64_t begin_ = 0;
};

inline void call_host_function(void (*function)(void*), void* data) {
  const InHostFunction scope;
  function(data);
}

}  // namespace cupola::runtime
