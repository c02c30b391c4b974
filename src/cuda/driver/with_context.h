#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace cupola::driver {

/// Tests with a current context, of the null device unless CUPOLA_DEVICE says otherwise.
class WithContext : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CUPOLA_DEVICE", "null", 0);
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDeviceGet(&device_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxCreate(&context_, nullptr, 0, device_), CUDA_SUCCESS);
  }
  void TearDown() override { cuCtxDestroy(context_); }

  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

}  // namespace cupola::driver
