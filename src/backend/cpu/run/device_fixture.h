#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

#include "backend/cpu/run/cpu_device.h"
#include "backend/cpu/run/native_executable.h"

// For tests only.

namespace cupola::cpu {

using image::cpu::KernelEntry;
using image::cpu::ThreadContext;

/// A device with one queue, and launches of native kernels whose parameter block is one plain struct.
class DeviceFixture : public testing::Test {
 protected:
  struct Shape {
    Dim3 grid, block;
    uint32_t dynamic_shared = 0;
    bool cooperative = false;
  };

  DeviceFixture() : device_(make_cpu_device()), queue_(device_->create_queue(0).value()) {}

  template <typename Parameters>
  static hal::Launch make_launch(KernelEntry entry, Shape shape, const Parameters& parameters, KernelCode code = {}) {
    static_assert(std::is_trivially_copyable_v<Parameters>);
    auto executable = std::make_shared<NativeExecutable>();
    executable->add("native", entry, code);
    hal::Launch launch;
    launch.executable = std::move(executable);
    launch.grid = shape.grid;
    launch.block = shape.block;
    launch.dynamic_shared_bytes = shape.dynamic_shared;
    launch.cooperative = shape.cooperative;
    launch.parameters.resize(sizeof(Parameters));
    std::memcpy(launch.parameters.data(), &parameters, sizeof(Parameters));
    return launch;
  }

  template <typename Parameters>
  void launch(KernelEntry entry, Shape shape, const Parameters& parameters, KernelCode code = {}) {
    last_ = queue_->submit(make_launch(entry, shape, parameters, code));
  }

  Result<> synchronize() { return queue_->progress()->wait(last_); }

  void expect_success() {
    const Result<> result = synchronize();
    EXPECT_TRUE(result) << result.error().message;
  }

  std::unique_ptr<hal::Device> device_;
  std::unique_ptr<hal::Queue> queue_;
  uint64_t last_ = 0;
};

template <typename T>
const T& parameters_of(const std::byte* block) {
  return *reinterpret_cast<const T*>(block);
}

inline uint32_t linear_thread(const ThreadContext* c) {
  return c->tid[0] + c->ntid[0] * (c->tid[1] + c->ntid[1] * c->tid[2]);
}
inline uint64_t linear_block(const ThreadContext* c) {
  return c->ctaid[0] + uint64_t{c->nctaid[0]} * (c->ctaid[1] + uint64_t{c->nctaid[1]} * c->ctaid[2]);
}

}  // namespace cupola::cpu
