#pragma once

// What the examples share: checking of API calls, comparison with the host's own result, and the final verdict.

#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK_CUDA(call)                                                                               \
  do {                                                                                                 \
    cudaError_t status_ = (call);                                                                      \
    if (status_ != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
      std::exit(1);                                                                                    \
    }                                                                                                  \
  } while (0)

/// Seconds since the first call; for the lines that examples print, not for tests.
inline double seconds() {
  static const auto begin = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Prints the example's closing line and gives main's return value.
inline int verdict(const char* what, bool right) {
  std::printf("%s: %s\n", what, right ? "the result is right" : "the result is WRONG");
  return right ? 0 : 1;
}

inline bool near(double value, double reference, double tolerance) {
  return std::fabs(value - reference) <= tolerance * std::fmax(1.0, std::fabs(reference));
}
