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

// Each of these lands inside the allocation when the arithmetic wraps around at 64 bits.
TEST_F(Copies, BoxesThatWrapAreRefused) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 4096), CUDA_SUCCESS);
  unsigned char host[64] = {};
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = memory + 2048;
  box.dstMemoryType = CU_MEMORYTYPE_HOST;
  box.dstHost = host;
  box.WidthInBytes = 16;
  box.Height = box.Depth = 1;
  ASSERT_EQ(cuMemcpy3D(&box), CUDA_SUCCESS);
  const auto refused = [&](auto change) {
    CUDA_MEMCPY3D changed = box;
    change(changed);
    EXPECT_EQ(cuMemcpy3D(&changed), CUDA_ERROR_INVALID_VALUE);
  };
  constexpr size_t kHalf = size_t{1} << 32;
  refused([](CUDA_MEMCPY3D& b) { b.srcXInBytes = SIZE_MAX - 7; });
  refused([](CUDA_MEMCPY3D& b) { b.srcY = b.srcPitch = kHalf; });
  refused([](CUDA_MEMCPY3D& b) { b.srcZ = 1, b.srcPitch = b.srcHeight = kHalf; });
  refused([](CUDA_MEMCPY3D& b) { b.Depth = 2, b.srcPitch = b.srcHeight = kHalf, b.dstPitch = 16, b.dstHeight = 1; });
  refused([](CUDA_MEMCPY3D& b) { b.Height = 2, b.srcPitch = SIZE_MAX - 15; });
  refused([](CUDA_MEMCPY3D& b) { b.Height = 2, b.srcXInBytes = SIZE_MAX - 7, b.srcPitch = 16; });
  refused([](CUDA_MEMCPY3D& b) { b.dstXInBytes = SIZE_MAX; });
  CUDA_MEMCPY2D plane{};
  plane.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  plane.srcDevice = memory + 2048;
  plane.dstMemoryType = CU_MEMORYTYPE_HOST;
  plane.dstHost = host;
  plane.WidthInBytes = 16;
  plane.Height = 1;
  plane.srcY = plane.srcPitch = kHalf;
  EXPECT_EQ(cuMemcpy2D(&plane), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
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
