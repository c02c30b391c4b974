#pragma once

#include <atomic>
#include <thread>

namespace cupola::driver {

/// Holds the stream that runs wait() as a host function until open() is called. For tests.
struct Gate {
  std::atomic<bool> is_open = false;
  static void wait(void* self) {
    while (!static_cast<Gate*>(self)->is_open) std::this_thread::yield();
  }
  void open() { is_open = true; }
};

}  // namespace cupola::driver
