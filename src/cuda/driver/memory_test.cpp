// What allocations promise. Oracle: "CUDA Driver API, Memory Management".

#include <cstdint>
#include <vector>

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using Memory = WithContext;

TEST_F(Memory, RejectsNothingAndNull) {
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&memory, SIZE_MAX / 2), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(Memory, FreesOnceAndOnlyBeginnings) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 1024), CUDA_SUCCESS);
  EXPECT_EQ(memory % 256, 0u);
  EXPECT_EQ(cuMemFree(memory + 256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, InfoShowsWhatIsAllocated) {
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 32 << 20), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_LE(after + (32 << 20), before);
  EXPECT_LE(before, total);
  cuMemFree(memory);
}

TEST_F(Memory, RangesAreFoundFromInside) {
  CUdeviceptr memory = 0, base = 0;
  size_t size = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 1000), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetAddressRange(&base, &size, memory + 999), CUDA_SUCCESS);
  EXPECT_EQ(base, memory);
  EXPECT_EQ(size, 1000u);
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, memory + 1000), CUDA_ERROR_NOT_FOUND);
  cuMemFree(memory);
}

// Oracle: an H200's driver, for all flags.
TEST_F(Memory, AddressRangesAreHostMemorysToo) {
  void* block = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&block, 1000, 0), CUDA_SUCCESS);
  const auto start = reinterpret_cast<CUdeviceptr>(block);
  CUdeviceptr base = 7;
  size_t size = 7;
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, start + 10), CUDA_SUCCESS);
  EXPECT_EQ(base, start);
  EXPECT_EQ(size, 1000u);
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, start + 1000), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(base, 0u);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(cuMemFreeHost(block), CUDA_SUCCESS);
  std::vector<char> own(8192);
  ASSERT_EQ(cuMemHostRegister(own.data(), own.size(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, reinterpret_cast<CUdeviceptr>(own.data()) + 10), CUDA_SUCCESS);
  EXPECT_EQ(size, own.size());
  EXPECT_EQ(cuMemHostUnregister(own.data()), CUDA_SUCCESS);
}

TEST_F(Memory, HostMemoryIsRegisteredOnce) {
  std::vector<char> block(8192);
  EXPECT_EQ(cuMemHostRegister(block.data(), block.size(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister(block.data() + 100, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CUdeviceptr seen = 0;
  EXPECT_EQ(cuMemHostGetDevicePointer(&seen, block.data(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(block.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(block.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(cuMemHostGetDevicePointer(&seen, block.data(), 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, HostAllocationsKeepTheirFlags) {
  void* block = nullptr;
  unsigned flags = 0;
  ASSERT_EQ(cuMemHostAlloc(&block, 100, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostGetFlags(&flags, block), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_MEMHOSTALLOC_PORTABLE});
  EXPECT_EQ(cuMemFreeHost(block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostAlloc(&block, 100, 0x100), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, PointersKnowWhatTheyAre) {
  CUdeviceptr device = 0, managed = 0;
  void* host = nullptr;
  ASSERT_EQ(cuMemAlloc(&device, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocHost(&host, 64), CUDA_SUCCESS);
  const auto type_of = [](CUdeviceptr pointer) {
    unsigned type = 0;
    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer) == CUDA_SUCCESS ? type : 0;
  };
  EXPECT_EQ(type_of(device), unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(type_of(managed), unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(type_of(reinterpret_cast<CUdeviceptr>(host)), unsigned{CU_MEMORYTYPE_HOST});
  int local = 0;
  EXPECT_EQ(type_of(reinterpret_cast<CUdeviceptr>(&local)), 0u);
  bool is_managed = false;
  EXPECT_EQ(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed), CUDA_SUCCESS);
  EXPECT_TRUE(is_managed);
  CUcontext context = nullptr;
  EXPECT_EQ(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, device), CUDA_SUCCESS);
  EXPECT_EQ(context, context_);
}

TEST_F(Memory, AttributesOfUnknownMemorySucceed) {
  int local = 0;
  unsigned type = 77;
  int ordinal = 77;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* answers[] = {&type, &ordinal};
  EXPECT_EQ(cuPointerGetAttributes(2, asked, answers, reinterpret_cast<CUdeviceptr>(&local)), CUDA_SUCCESS);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(ordinal, -2);
}

TEST_F(Memory, StreamOrderedMemoryIsUsableInBetween) {
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocAsync(&memory, 4096, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(memory, 1, 4096, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cupola::driver
