// What copies and fills promise. Oracle: "CUDA Driver API, Memory Management".

#include <cstring>
#include <iterator>
#include <numeric>
#include <vector>

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using Copies = WithContext;

TEST_F(Copies, GoThereAndBack) {
  std::vector<int> sent(1000), received(1000);
  std::iota(sent.begin(), sent.end(), 7);
  CUdeviceptr first = 0, second = 0;
  const size_t bytes = sent.size() * sizeof(int);
  ASSERT_EQ(cuMemAlloc(&first, bytes), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&second, bytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(first, sent.data(), bytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoD(second, first, bytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(received.data(), second, bytes), CUDA_SUCCESS);
  EXPECT_EQ(received, sent);
}

TEST_F(Copies, ChecksDirectionAndSize) {
  char host[64] = {};
  CUdeviceptr device = 0;
  ASSERT_EQ(cuMemAlloc(&device, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(device, host, 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(device + 60, host, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(host), host + 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(0, host, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(device, host, 0), CUDA_SUCCESS);
}

TEST_F(Copies, PlanesKeepTheirPitch) {
  // Oracle: a copy by hand.
  constexpr size_t kWidth = 5, kHeight = 4, kHostPitch = 7;
  unsigned char host[kHostPitch * kHeight], back[kWidth * kHeight];
  std::iota(std::begin(host), std::end(host), static_cast<unsigned char>(0));
  CUdeviceptr device = 0;
  size_t pitch = 0;
  ASSERT_EQ(cuMemAllocPitch(&device, &pitch, kWidth, kHeight, 4), CUDA_SUCCESS);
  EXPECT_GE(pitch, kWidth);
  CUDA_MEMCPY2D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = host;
  in.srcPitch = kHostPitch;
  in.srcXInBytes = 1;
  in.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  in.dstDevice = device;
  in.dstPitch = pitch;
  in.WidthInBytes = kWidth;
  in.Height = kHeight;
  ASSERT_EQ(cuMemcpy2D(&in), CUDA_SUCCESS);
  CUDA_MEMCPY2D out{};
  out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  out.srcDevice = device;
  out.srcPitch = pitch;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = back;
  out.dstPitch = kWidth;
  out.WidthInBytes = kWidth;
  out.Height = kHeight;
  ASSERT_EQ(cuMemcpy2D(&out), CUDA_SUCCESS);
  for (size_t y = 0; y < kHeight; ++y)
    EXPECT_EQ(std::memcmp(back + y * kWidth, host + y * kHostPitch + 1, kWidth), 0) << y;
  out.srcPitch = kWidth - 1;
  EXPECT_EQ(cuMemcpy2D(&out), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Copies, FillsEveryWidth) {
  CUdeviceptr device = 0;
  ASSERT_EQ(cuMemAlloc(&device, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(device, 0x01020304, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD16(device + 4, 0x5566, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(device + 8, 0x77, 3), CUDA_SUCCESS);
  unsigned char host[64];
  ASSERT_EQ(cuMemcpyDtoH(host, device, 64), CUDA_SUCCESS);
  const unsigned char expected[] = {4, 3, 2, 1, 0x66, 0x55, 0x66, 0x55, 0x77, 0x77, 0x77, 1};
  EXPECT_EQ(std::memcmp(host, expected, sizeof expected), 0);
  EXPECT_EQ(cuMemsetD32(device + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cupola::driver
