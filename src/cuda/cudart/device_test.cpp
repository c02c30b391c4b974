// What refused calls about devices say.

#include <gmock/gmock.h>

#include "cuda/cudart/fake_driver.h"
#include "cuda/cudart/public.h"

namespace cupola::cudart {
namespace {

TEST(Device, OneThatDoesNotExistIsToldHowManyThereAre) {
  FakeDriver::install();
  int count = 0, value = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 4321), cudaErrorInvalidDevice);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("device 4321 does not exist; there are " + std::to_string(count) + ","));
}

}  // namespace
}  // namespace cupola::cudart
