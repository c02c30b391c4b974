// Registration, the launch configuration and launches, over a driver that records. Oracle: the documented behaviour of
// the runtime API and the order of calls that clang emits for kernel<<<grid, block, shared, stream>>>(...).

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "cuda/cudart/fake_driver.h"
#include "cuda/cudart/public.h"
#include "cuda/cudart/registry.h"

namespace cupola::cudart {
namespace {

const char stub = 0, other_stub = 0;  // the addresses that stand for kernels
char host_counter[16];
const char image[] = "fat binary";

class Registration : public testing::Test {
 protected:
  void SetUp() override {
    fake = &FakeDriver::install();
    wrapper = {FatbinWrapper::kMagic, 1, image, nullptr};
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub, nullptr, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFunction(handle, &other_stub, nullptr, "missing", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, host_counter, nullptr, "counter", 0, 16, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    cudaGetLastError();
  }
  void TearDown() override {
    if (handle) __cudaUnregisterFatBinary(handle);
    cudaDeviceReset();
  }

  FakeDriver* fake;
  FatbinWrapper wrapper;
  void** handle;
};

TEST_F(Registration, LoadsNothingBeforeTheFirstUse) {
  EXPECT_EQ(fake->modules_loaded, 0);
  EXPECT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(fake->modules_loaded, 1);
  EXPECT_EQ(static_cast<const FatbinWrapper*>(fake->images.at(0))->bytes, image);
}

TEST_F(Registration, LaunchesWithTheGivenShape) {
  ASSERT_EQ(cudaLaunchKernel(&stub, dim3(2, 3, 4), dim3(32, 2), nullptr, 100, reinterpret_cast<cudaStream_t>(16)),
            cudaSuccess);
  EXPECT_EQ(fake->launches.at(0), "2x3x4 32x2x1 100 16");
}

TEST_F(Registration, PerThreadVariantReplacesTheNullStream) {
  ASSERT_EQ(cudaLaunchKernel_ptsz(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(fake->launches.at(0), "1x1x1 1x1x1 0 2");
}

TEST_F(Registration, UnknownKernelIsAnInvalidHandle) {
  int local = 0;
  EXPECT_EQ(cudaLaunchKernel(&local, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidResourceHandle);
  cudaFuncAttributes attributes;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &local), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

TEST_F(Registration, KernelThatTheImageLacksIsAnInvalidDeviceFunction) {
  EXPECT_EQ(cudaLaunchKernel(&other_stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// A GPU's runtime does not survive some of these; ours does.
TEST_F(Registration, NullArgumentsAreRefused) {
  EXPECT_EQ(cudaLaunchKernel(nullptr, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernelExC(nullptr, &stub, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLaunchKernelExC_ptsz(nullptr, &stub, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncGetAttributes(nullptr, &stub), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetKernel(nullptr, &stub), cudaErrorInvalidValue);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, &stub, 256, 0), cudaErrorInvalidValue);
}

TEST_F(Registration, ForgetsKernelsWhenUnregistered) {
  __cudaUnregisterFatBinary(handle);
  handle = nullptr;
  EXPECT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidResourceHandle);
}

TEST_F(Registration, KernelHandlesLaunchToo) {
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaGetKernel(&kernel, &stub), cudaSuccess);
  EXPECT_EQ(__cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);

  // What compiled code calls, with the null stream as the thread's own.
  cudaKernel_t kept = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kept, &stub), cudaSuccess);
  EXPECT_EQ(__cudaLaunchKernel_ptsz(kept, dim3(2), dim3(3), nullptr, 0, nullptr), cudaSuccess);
  ASSERT_EQ(fake->launches.size(), 2u);
  EXPECT_EQ(fake->launches[0], "1x1x1 1x1x1 0 0");
  EXPECT_EQ(fake->launches[1], "2x1x1 3x1x1 0 2");  // 2: CU_STREAM_PER_THREAD
}

TEST_F(Registration, WhatCompiledCodeKeepsOutlivesAReset) {
  cudaKernel_t kept = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kept, &stub), cudaSuccess);
  ASSERT_EQ(__cudaLaunchKernel(kept, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(__cudaLaunchKernel(kept, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  const int other = 0;
  EXPECT_EQ(__cudaGetKernel(&kept, &other), cudaErrorInvalidDeviceFunction);
}

TEST_F(Registration, CopiesToAndFromSymbols) {
  const int sent = 42;
  int received = 0;
  ASSERT_EQ(cudaMemcpyToSymbol(host_counter, &sent, sizeof sent, 4), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbol(&received, host_counter, sizeof received, 4), cudaSuccess);
  EXPECT_EQ(received, 42);
  size_t size = 0;
  ASSERT_EQ(cudaGetSymbolSize(&size, host_counter), cudaSuccess);
  EXPECT_EQ(size, 16u);
}

TEST_F(Registration, RefusesCopiesOutsideASymbol) {
  int value = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(host_counter, &value, sizeof value, 14), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&value, &value, sizeof value), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(host_counter, &value, sizeof value, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
}

TEST_F(Registration, FillsManagedVariablesWhenTheModuleIsInitialised) {
  void* managed = nullptr;
  __cudaRegisterManagedVar(handle, &managed, nullptr, "counter", 0, 16, 0, 0);
  EXPECT_TRUE(__cudaInitModule(handle));
  EXPECT_EQ(managed, fake->variable);
}

TEST_F(Registration, SeparatelyCompiledCodeHandsItsUnitsToTheDriver) {
  const void* units[] = {image, nullptr};
  FatbinWrapper linked{FatbinWrapper::kMagic, 2, image, units};
  void** second = __cudaRegisterFatBinary(&linked);
  const char third_stub = 0;
  __cudaRegisterFunction(second, &third_stub, nullptr, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(cudaLaunchKernel(&third_stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  const auto& given = *static_cast<const FatbinWrapper*>(fake->images.back());
  EXPECT_EQ(given.version, 2u);
  EXPECT_EQ(given.units, units);
  __cudaUnregisterFatBinary(second);
}

TEST_F(Registration, ResetLoadsAgain) {
  ASSERT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(fake->modules_loaded, 2);
}

// After a reset other threads still have the primary context current: the next call initialises it again.
TEST_F(Registration, AThreadThatStillHasTheResetContextLoadsAgain) {
  ASSERT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  const CUcontext kept = fake->current;
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(fake->retained, 0);
  fake->current = kept;
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(fake->retained, 0);
  ASSERT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(fake->modules_loaded, 2);
  EXPECT_EQ(fake->retained, 1);
}

TEST_F(Registration, AReleaseThroughTheDriverIsNoticed) {
  ASSERT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  ASSERT_EQ(fake->table.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  ASSERT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(fake->modules_loaded, 2);
  EXPECT_EQ(fake->retained, 1);
}

// "CUDA Runtime API, Device Management", cudaDeviceReset: all resources of the current device, whoever retained it.
TEST_F(Registration, ResetEndsAContextThatTheProgramRetained) {
  CUcontext primary = nullptr;
  ASSERT_EQ(fake->table.cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  ASSERT_EQ(fake->table.cuCtxSetCurrent(primary), CUDA_SUCCESS);
  ASSERT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_FALSE(fake->active);
  EXPECT_EQ(fake->retained, 1);  // the program's
  EXPECT_EQ(fake->current, primary);
  ASSERT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(fake->modules_loaded, 2);
  ASSERT_EQ(fake->table.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST_F(Registration, ResetBeginsNoContext) {
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_FALSE(fake->active);
  EXPECT_EQ(fake->retained, 0);
}

TEST_F(Registration, KernelsOfALibraryEndWithIt) {
  fake->table.cuLibraryGetKernel = [](CUkernel* kernel, CUlibrary, const char*) {
    return *kernel = reinterpret_cast<CUkernel>(&FakeDriver::get().kernel_tag), CUDA_SUCCESS;
  };
  fake->table.cuLibraryUnload = [](CUlibrary) { return CUDA_SUCCESS; };
  const auto library = reinterpret_cast<cudaLibrary_t>(16), other = reinterpret_cast<cudaLibrary_t>(32);
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "kernel"), cudaSuccess);
  ASSERT_EQ(cudaLibraryUnload(other), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaLibraryUnload(library), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidResourceHandle);
}

TEST_F(Registration, KernelsOfTheProgramAreOfNoLibrary) {
  fake->table.cuLibraryUnload = [](CUlibrary) { return CUDA_ERROR_INVALID_HANDLE; };
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaGetKernel(&kernel, &stub), cudaSuccess);
  ASSERT_EQ(cudaLibraryUnload(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
}

TEST_F(Registration, AContextThatEndsWhileAnotherLoadsHoldsUpNoLaunch) {
  using namespace std::chrono_literals;
  ASSERT_EQ(cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  static std::promise<void> loading, go_on;
  loading = {}, go_on = {};
  fake->table.cuModuleLoadData = [](CUmodule* module, const void*) {
    loading.set_value();
    go_on.get_future().wait();
    return *module = reinterpret_cast<CUmodule>(7), CUDA_SUCCESS;
  };
  FatbinWrapper slow{FatbinWrapper::kMagic, 1, image, nullptr};
  const char slow_stub = 0;
  void** second = __cudaRegisterFatBinary(&slow);
  __cudaRegisterFunction(second, &slow_stub, nullptr, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  const CUcontext context = fake->current;
  std::thread loader([&] { std::ignore = Registry::get().function(fake->table, context, &slow_stub); });
  loading.get_future().wait();
  std::thread ender([] { Registry::get().forget(reinterpret_cast<CUcontext>(48)); });
  std::this_thread::sleep_for(50ms);
  auto launch = std::async(std::launch::async, [&] { return Registry::get().function(fake->table, context, &stub); });
  EXPECT_EQ(launch.wait_for(10s), std::future_status::ready);
  go_on.set_value();
  loader.join();
  ender.join();
  EXPECT_TRUE(launch.get());
  __cudaUnregisterFatBinary(second);
}

// "Returns in *device the device which has properties that best match *prop."
TEST_F(Registration, ChoosesTheDeviceThatMatchesBest) {
  fake->table.cuDeviceGetCount = [](int* count) { return *count = 3, CUDA_SUCCESS; };
  fake->table.cuDeviceGet = [](CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; };
  fake->table.cuDeviceGetName = [](char* name, int, CUdevice device) {
    return std::strcpy(name, device == 2 ? "big" : "small"), CUDA_SUCCESS;
  };
  fake->table.cuDeviceGetUuid = [](CUuuid*, CUdevice) { return CUDA_SUCCESS; };
  fake->table.cuDeviceTotalMem = [](size_t* bytes, CUdevice device) {
    return *bytes = size_t{1} << (30 + device), CUDA_SUCCESS;
  };
  fake->table.cuDeviceGetAttribute = [](int* value, CUdevice_attribute attribute, CUdevice device) {
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 - device : 1;
    return CUDA_SUCCESS;
  };
  const auto chosen = [](const cudaDeviceProp& wanted) {
    int device = -1;
    EXPECT_EQ(cudaChooseDevice(&device, &wanted), cudaSuccess);
    return device;
  };
  cudaDeviceProp wanted{};
  EXPECT_EQ(chosen(wanted), 0);
  wanted.totalGlobalMem = size_t{1} << 31;
  EXPECT_EQ(chosen(wanted), 1);
  wanted.totalGlobalMem = size_t{1} << 32;
  EXPECT_EQ(chosen(wanted), 2);
  wanted.major = 9;  // each of the two has one
  EXPECT_EQ(chosen(wanted), 0);
  std::strcpy(wanted.name, "big");
  EXPECT_EQ(chosen(wanted), 2);
  wanted = {};
  wanted.major = 99;  // none has it
  EXPECT_EQ(chosen(wanted), 0);
}

TEST(CallConfiguration, NestsAndComesBackInReverse) {
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(1), dim3(2), 3, reinterpret_cast<cudaStream_t>(4)), 0u);
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(5), dim3(6), 7, nullptr), 0u);
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.x, 5u);
  EXPECT_EQ(shared, 7u);
  ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(block.x, 2u);
  EXPECT_EQ(stream, reinterpret_cast<cudaStream_t>(4));
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
  cudaGetLastError();
}

TEST(CallConfiguration, IsPerThread) {
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(1), dim3(2), 0, nullptr), 0u);
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] { elsewhere = __cudaPopCallConfiguration(&grid, &block, &shared, &stream); }).join();
  EXPECT_EQ(elsewhere, cudaErrorMissingConfiguration);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
}

}  // namespace
}  // namespace cupola::cudart
