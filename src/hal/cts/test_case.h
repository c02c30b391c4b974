#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "hal/cts/suite.h"

// For the suite's own files.

namespace cupola::hal::cts {

/// What a test works with: a fresh device and one queue.
class TestCase {
 public:
  explicit TestCase(const Backend& backend)
      : backend_(backend), device(backend.make()), queue(device->create_queue(0).value()) {}

  /// The test kernels; made at the first call.
  const std::shared_ptr<Executable>& kernels() {
    if (!kernels_) kernels_ = backend_.make_kernels(*device);
    return kernels_;
  }

  void drop_kernels() { kernels_.reset(); }

  template <typename Parameters>
  Launch make_launch(const char* kernel, Dim3 grid, Dim3 block, const Parameters& parameters) {
    Launch launch;
    launch.executable = kernels();
    launch.kernel = kernels()->find_kernel(kernel).value();
    launch.grid = grid;
    launch.block = block;
    launch.parameters.resize(sizeof parameters);
    std::memcpy(launch.parameters.data(), &parameters, sizeof parameters);
    return launch;
  }

  /// Submits, and waits until it is done.
  void run(Command command) { expect_done(*queue, queue->submit(std::move(command))); }

  static void expect_done(Queue& on, uint64_t number) {
    const Result<> result = on.progress()->wait(number);
    EXPECT_TRUE(result) << result.error().message;
  }

  /// A committed buffer of at least `bytes`.
  std::unique_ptr<Buffer> make_buffer(uint64_t bytes) {
    auto buffer = device->reserve(bytes).value();
    const Result<> committed = buffer->commit(0, buffer->size());
    EXPECT_TRUE(committed) << committed.error().message;
    return buffer;
  }

 private:
  const Backend& backend_;

 public:
  const std::unique_ptr<Device> device;
  std::unique_ptr<Queue> queue;

 private:
  std::shared_ptr<Executable> kernels_;
};

struct Test {
  const char* suite;
  const char* name;
  bool launches;  ///< needs the test kernels
  void (*body)(TestCase&);
};

// One function a file.
std::vector<Test> memory_tests();
std::vector<Test> transfer_tests();
std::vector<Test> queue_tests();
std::vector<Test> semaphore_tests();
std::vector<Test> launch_tests();

template <typename T>
Address address_of(T* pointer) {
  return reinterpret_cast<Address>(pointer);
}

}  // namespace cupola::hal::cts
