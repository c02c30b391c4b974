#pragma once

#include <gtest/gtest.h>
#include <nvml.h>

#include <cstdlib>

namespace cupola::nvml {

/// Tests with the library initialised and the first device, the null device unless CUPOLA_DEVICE says otherwise.
class WithNvml : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CUPOLA_DEVICE", "null", 0);
    ASSERT_EQ(nvmlInit(), NVML_SUCCESS);
    ASSERT_EQ(nvmlDeviceGetHandleByIndex(0, &device_), NVML_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS); }

  nvmlDevice_t device_ = nullptr;
  /// No handle: an address that is not one of ours.
  nvmlDevice_t other_ = reinterpret_cast<nvmlDevice_t>(&device_);
};

}  // namespace cupola::nvml
