// The last error and what errors are called. Oracle: "CUDA Runtime API, Error Handling" and the list of cudaError_t.

#include <gtest/gtest.h>

#include <thread>

#include "cuda/cudart/fake_driver.h"
#include "cuda/cudart/public.h"

namespace cupola::cudart {
namespace {

#define CUDART_ERROR(name, number, text) static_assert(name == number);
#include "cuda/cudart/cuda_errors.def"
#undef CUDART_ERROR

TEST(Errors, HaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(11)), "unrecognized error code");
}

// What is said inside is what CUDA documents outside: every row of the table of errors has a public number and its
// text.
TEST(Errors, OfTheWholeProjectArePublicOnes) {
#define CUPOLA_ERROR(name, number, text) \
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(number)), text) << #name;
#include "base/errors.def"
#undef CUPOLA_ERROR
  EXPECT_EQ(static_cast<cudaError_t>(ErrorCode::InsufficientDriver), cudaErrorInsufficientDriver);
  EXPECT_EQ(static_cast<cudaError_t>(ErrorCode::UnsupportedLimit), cudaErrorUnsupportedLimit);
  EXPECT_EQ(static_cast<cudaError_t>(ErrorCode::PeerAccessUnsupported), cudaErrorPeerAccessUnsupported);
  EXPECT_EQ(static_cast<cudaError_t>(ErrorCode::UnsupportedExecAffinity), cudaErrorUnsupportedExecAffinity);
  EXPECT_EQ(static_cast<cudaError_t>(ErrorCode::InvalidClusterSize), cudaErrorInvalidClusterSize);
}

TEST(Errors, PeekKeepsAndGetClears) {
  FakeDriver::install();
  cudaGetLastError();
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 4, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Errors, SuccessDoesNotClear) {
  FakeDriver::install();
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST(Errors, ArePerThread) {
  FakeDriver::install();
  cudaGetLastError();
  std::thread([] { EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice); }).join();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Errors, ReadingClearsAFaultToo) {
  FakeDriver& fake = FakeDriver::install();
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  fake.next_status = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Errors, ResetForgetsTheLastError) {
  FakeDriver& fake = FakeDriver::install();
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  fake.next_status = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Versions, RuntimeIs13) {
  int version = 0;
  ASSERT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 13000);
}

}  // namespace
}  // namespace cupola::cudart
