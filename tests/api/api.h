#pragma once

// What the API tests share beside the frame of the kernel tests: a gate that holds a stream, and comparisons of codes.

#include <atomic>
#include <chrono>
#include <initializer_list>
#include <thread>

#include "../kernels/check.h"

namespace check {

/// Holds a stream: work after close() waits until release(). Use one at a time: CUDA may run the host functions of all
/// streams one after another. It holds once: a released gate stays open. One that is forgotten opens by itself after 20
/// seconds, and fails the test.
class Gate {
 public:
  ~Gate() {
    release();
    if (expired_) fail(__FILE__, __LINE__, "a gate opened by itself: something waited for what it held");
  }

  void close(cudaStream_t stream) {
    if (open_) fail(__FILE__, __LINE__, "the gate was released before");
    if (cudaLaunchHostFunc(stream, wait, this) != cudaSuccess) fail(__FILE__, __LINE__, "the gate cannot be closed");
  }
  void release() { open_ = true; }

  /// True when the stream's work waits: the gate is reached, and a moment later the stream has not ended.
  bool holds(cudaStream_t stream) const {
    for (int i = 0; i < 20000 && !reached_; ++i) pause(1);
    pause(10);
    return reached_ && !open_ && cudaStreamQuery(stream) == cudaErrorNotReady;
  }

  /// A host function for cudaLaunchHostFunc or cuLaunchHostFunc; the argument is the gate.
  static void wait(void* gate) {
    Gate& self = *static_cast<Gate*>(gate);
    self.reached_ = true;
    for (int i = 0; i < 20000 && !self.open_; ++i) pause(1);
    if (!self.open_) self.expired_ = true;
  }
  static void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

 private:
  std::atomic<bool> open_{false}, reached_{false}, expired_{false};
};

inline void one_of(int got, std::initializer_list<int> expected, const char* what, const char* file, int line) {
  for (int code : expected)
    if (got == code) return;
  char text[256];
  std::snprintf(text, sizeof text, "%s: got %d", what, got);
  fail(file, line, text);
}

/// Whether the program runs on Cupola's driver.
inline bool on_cupola() {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, 0) == cudaSuccess && !std::strncmp(properties.name, "Cupola", 6);
}

/// True when the device can do it. Devices of other drivers may refuse with the documented "not supported"; no other
/// code will do, and Cupola's must be able to.
inline bool supported(int code, const char* what, const char* file, int line) {
  if (on_cupola())
    equal(code, 0, what, 0, file, line);
  else
    one_of(code, {0, cudaErrorNotSupported}, what, file, line);
  return code == 0;
}

/// Every byte of device memory equals value.
inline bool all_bytes(const void* device, size_t count, unsigned char value) {
  std::vector<unsigned char> host(count, static_cast<unsigned char>(~value));
  if (cudaMemcpy(host.data(), device, count, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
  for (unsigned char byte : host)
    if (byte != value) return false;
  return true;
}

}  // namespace check

#define EXPECT_ONE_OF(call, ...) check::one_of(static_cast<int>(call), {__VA_ARGS__}, #call, __FILE__, __LINE__)
#define SUPPORTED(call) check::supported(static_cast<int>(call), #call, __FILE__, __LINE__)
