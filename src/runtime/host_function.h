#pragma once

namespace cupola::runtime {

/// While it lives, the thread runs a function that the program gave to a stream, and calls of the API are refused: they
/// might wait for the stream that waits for the function. "CUDA Driver API, cuLaunchHostFunc: The host function must
/// not make any CUDA API calls. Attempting to use a CUDA API may result in CUDA_ERROR_NOT_PERMITTED."
class InHostFunction {
 public:
  InHostFunction() { ++depth_; }
  ~InHostFunction() { --depth_; }
  InHostFunction(const InHostFunction&) = delete;
  InHostFunction& operator=(const InHostFunction&) = delete;

  static bool here() { return depth_ > 0; }

 private:
  static inline constinit thread_local int depth_ = 0;
};

}  // namespace cupola::runtime
