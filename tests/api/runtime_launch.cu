// Launching kernels, what a kernel is, and how many blocks fit.
// Oracle: "CUDA Runtime API", Execution Control, Occupancy; "CUDA C++ Programming Guide" on execution configurations.

#include <string>

#include "api.h"

struct Pair {
  char letter;
  double number;
};

extern "C" __global__ void api_launch_kernel(int* out, char a, Pair pair, long long b) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + static_cast<int>(pair.number) + pair.letter + static_cast<int>(b);
}

__global__ void shape_kernel(unsigned* out) {
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0 && blockIdx.x + blockIdx.y + blockIdx.z == 0) {
    const unsigned values[] = {gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z};
    for (int i = 0; i < 6; ++i) out[i] = values[i];
  }
  atomicAdd(out + 6, 1u);
}

__global__ void dynamic_shared_kernel(int* out, int last) {
  extern __shared__ int window[];
  window[last] = 17;
  window[0] = 4;
  *out = window[last] + window[0];
}

__global__ void static_shared_kernel(int* out) {
  __shared__ int window[256];
  window[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = window[255 - threadIdx.x];
}

/// Both blocks must be on the device at the same time: each waits for the other.
__global__ void meet_kernel(int* arrived) {
  atomicAdd(arrived, 1);
  while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) {
  }
}

static void host_only() {}

CASE(launch_kernel_passes_every_parameter) {
  check::Managed<int> out(64);
  int* pointer = out;
  char a = 1;
  Pair pair = {2, 3.5};
  long long b = 1000;
  void* arguments[] = {&pointer, &a, &pair, &b};
  CUDA_OK(cudaLaunchKernel(reinterpret_cast<const void*>(api_launch_kernel), dim3(2), dim3(32), arguments, 0, nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, out[static_cast<size_t>(i)], 1006);
}

CASE(shape_reaches_the_kernel) {
  check::Managed<unsigned> out(7);
  shape_kernel<<<dim3(3, 2, 4), dim3(8, 2, 3)>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  const unsigned expected[] = {3, 2, 4, 8, 2, 3, 24 * 48};
  for (size_t i = 0; i < 7; ++i) EXPECT_EQUAL_AT(static_cast<long long>(i), out[i], expected[i]);
}

__global__ void axpy_kernel(float a, const float* x, float* y, int count) {
  int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) y[i] += a * x[i];
}

// Pointers into the middle of allocations are as good as their beginnings.
CASE(axpy_at_an_offset) {
  check::Managed<float> x(300), y(300);
  for (size_t i = 0; i < 300; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 1000;
  }
  axpy_kernel<<<1, 128>>>(2.0f, x + 50, y + 7, 100);
  CUDA_OK(cudaDeviceSynchronize());
  for (size_t i = 0; i < 300; ++i) {
    const bool inside = i >= 7 && i < 107;
    EXPECT_EQUAL_AT(static_cast<long long>(i), y[i], inside ? 1000.0f + 2.0f * static_cast<float>(i + 43) : 1000.0f);
  }
}

CASE(invalid_configurations) {
  check::Managed<unsigned> out(7);
  auto launched = [&](dim3 grid, dim3 block) {
    shape_kernel<<<grid, block>>>(out);
    return cudaGetLastError();
  };
  EXPECT_CUDA(launched(dim3(0), dim3(32)), cudaErrorInvalidValue);
  EXPECT_CUDA(launched(dim3(1), dim3(0)), cudaErrorInvalidValue);
  EXPECT_CUDA(launched(dim3(1), dim3(1025)), cudaErrorInvalidValue);
  EXPECT_CUDA(launched(dim3(1), dim3(32, 32, 2)), cudaErrorInvalidValue);
  EXPECT_CUDA(launched(dim3(1), dim3(1, 1, 65)), cudaErrorInvalidValue);
  EXPECT_CUDA(launched(dim3(1, 65536), dim3(1)), cudaErrorInvalidValue);
  EXPECT_CUDA(launched(dim3(1, 1), dim3(1024)), cudaSuccess);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[6], 1024u);
}

// The driver checks what it is asked for, and says so once, whichever call it was.
CASE(every_launch_is_checked_once) {
  if (!check::on_cupola()) return;  // what other drivers log is theirs
  int said = 0;
  cudaLogsCallbackHandle handle = nullptr;
  CUDA_OK(cudaLogsRegisterCallback([](void* to, cudaLogLevel, char*, size_t) { ++*static_cast<int*>(to); }, &said,
                                   &handle));
  const auto* kernel = reinterpret_cast<const void*>(shape_kernel);
  check::Managed<unsigned> out(7);
  unsigned* pointer = out;
  void* arguments[] = {&pointer};
  const dim3 shapes[][2] = {
      {dim3(0), dim3(1)}, {dim3(1, 65536), dim3(1)}, {dim3(1), dim3(1025)}, {dim3(1), dim3(64, 32)}};
  for (const auto& [grid, block] : shapes) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    said = 0;
    EXPECT_CUDA(cudaLaunchKernel(kernel, grid, block, arguments, 0, nullptr), cudaErrorInvalidValue);
    EXPECT_EQUAL(said, 1);
    EXPECT_CUDA(cudaLaunchCooperativeKernel(kernel, grid, block, arguments, 0, nullptr), cudaErrorInvalidValue);
    EXPECT_EQUAL(said, 2);
    EXPECT_CUDA(cudaLaunchKernelExC(&config, kernel, arguments), cudaErrorInvalidValue);
    EXPECT_EQUAL(said, 3);
  }
  CUDA_OK(cudaLogsUnregisterCallback(handle));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[6], 0u);
}

// A function that is no kernel is taken for a handle of one (CUDA 13.0 on an H200).
CASE(what_is_no_kernel) {
  void* arguments[] = {nullptr};
  EXPECT_CUDA(cudaLaunchKernel(static_cast<const void*>(nullptr), dim3(1), dim3(1), arguments, 0, nullptr),
              cudaErrorInvalidDeviceFunction);
  EXPECT_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(host_only), dim3(1), dim3(1), arguments, 0, nullptr),
              cudaErrorInvalidResourceHandle);
  cudaFuncAttributes attributes;
  EXPECT_CUDA(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(host_only)),
              cudaErrorInvalidResourceHandle);
}

CASE(dynamic_shared_memory_up_to_the_opt_in_limit) {
  int optin = 0;
  CUDA_OK(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  check::Managed<int> out(1);
  dynamic_shared_kernel<<<1, 1, 48 * 1024>>>(out, 48 * 256 - 1);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[0], 21);
  out[0] = 0;
  const size_t bytes = static_cast<size_t>(optin);
  dynamic_shared_kernel<<<1, 1, bytes>>>(out, 0);
  if (optin > 48 * 1024) EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  CUDA_OK(cudaFuncSetAttribute(dynamic_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, optin));
  dynamic_shared_kernel<<<1, 1, bytes>>>(out, optin / 4 - 1);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[0], 21);
  EXPECT_CUDA(cudaFuncSetAttribute(dynamic_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, optin + 1),
              cudaErrorInvalidValue);
}

CASE(extended_launch) {
  check::Managed<unsigned> out(7);
  unsigned* pointer = out;
  void* arguments[] = {&pointer};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2, 3);
  config.blockDim = dim3(16);
  CUDA_OK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(shape_kernel), arguments));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[1], 3u);
  EXPECT_EQUAL(out[6], 96u);
  config.gridDim = dim3(0);
  EXPECT_CUDA(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(shape_kernel), arguments),
              cudaErrorInvalidValue);
}

CASE(blocks_of_a_cooperative_launch_run_together) {
  check::Managed<int> arrived(1);
  int* pointer = arrived;
  void* arguments[] = {&pointer};
  int fit = 0, multiprocessors = 0;
  CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, meet_kernel, 1, 0));
  CUDA_OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = fit * multiprocessors;
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(meet_kernel), dim3(static_cast<unsigned>(blocks)),
                                      dim3(1), arguments, 0, nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(arrived[0], blocks);
  EXPECT_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(meet_kernel),
                                          dim3(static_cast<unsigned>(blocks + 1)), dim3(1), arguments, 0, nullptr),
              cudaErrorCooperativeLaunchTooLarge);
}

CASE(function_attributes) {
  cudaFuncAttributes attributes;
  CUDA_OK(cudaFuncGetAttributes(&attributes, static_shared_kernel));
  EXPECT_EQUAL(attributes.sharedSizeBytes, 1024u);
  EXPECT(attributes.maxThreadsPerBlock > 0 && attributes.maxThreadsPerBlock <= 1024);
  EXPECT(attributes.ptxVersion >= 70 && attributes.binaryVersion >= 70);
  CUDA_OK(cudaFuncGetAttributes(&attributes, shape_kernel));
  EXPECT_EQUAL(attributes.sharedSizeBytes, 0u);
  EXPECT_CUDA(cudaFuncSetAttribute(shape_kernel, static_cast<cudaFuncAttribute>(99), 1), cudaErrorInvalidValue);
  CUDA_OK(cudaFuncSetCacheConfig(shape_kernel, cudaFuncCachePreferL1));
  CUDA_OK(cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(shape_kernel), cudaSharedMemBankSizeFourByte));
  CUDA_OK(cudaFuncSetAttribute(shape_kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
}

CASE(function_names_and_parameters) {
  const char* name = nullptr;
  CUDA_OK(cudaFuncGetName(&name, reinterpret_cast<const void*>(api_launch_kernel)));
  EXPECT_EQUAL(std::string(name ? name : ""), "api_launch_kernel");
  const size_t offsets[] = {0, 8, 16, 32}, sizes[] = {8, 1, 16, 8};
  for (size_t i = 0; i < 4; ++i) {
    size_t offset = 99, size = 99;
    CUDA_OK(cudaFuncGetParamInfo(reinterpret_cast<const void*>(api_launch_kernel), i, &offset, &size));
    EXPECT_EQUAL_AT(static_cast<long long>(i), offset, offsets[i]);
    EXPECT_EQUAL_AT(static_cast<long long>(i), size, sizes[i]);
  }
  size_t offset = 0, size = 0;
  EXPECT_CUDA(cudaFuncGetParamInfo(reinterpret_cast<const void*>(api_launch_kernel), 4, &offset, &size),
              cudaErrorInvalidValue);
  cudaFunction_t function = nullptr, same = nullptr;
  CUDA_OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(api_launch_kernel)));
  CUDA_OK(cudaGetFuncBySymbol(&same, reinterpret_cast<const void*>(api_launch_kernel)));
  EXPECT(function != nullptr && function == same);
  cudaKernel_t kernel = nullptr;
  CUDA_OK(cudaGetKernel(&kernel, reinterpret_cast<const void*>(api_launch_kernel)));
  EXPECT(kernel != nullptr);
  EXPECT_CUDA(cudaGetKernel(&kernel, reinterpret_cast<const void*>(host_only)), cudaErrorInvalidDeviceFunction);
  EXPECT_CUDA(cudaGetKernel(&kernel, nullptr), cudaErrorInvalidDeviceFunction);
}

CASE(occupancy) {
  int blocks = 0, with_flags = 0, threads = 0;
  CUDA_OK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, static_shared_kernel, 256, 0));
  EXPECT(blocks >= 1 && blocks * 256 <= threads);
  CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&with_flags, static_shared_kernel, 256, 0,
                                                                 cudaOccupancyDefault));
  EXPECT_EQUAL(with_flags, blocks);
  int crowded = 0;
  CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&crowded, static_shared_kernel, 256, 40 * 1024));
  EXPECT(crowded >= 1 && crowded <= blocks);
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, static_shared_kernel, 0, 0),
              cudaErrorInvalidValue);
  size_t one = 0, two = 0;
  int per_multiprocessor = 0;
  CUDA_OK(cudaDeviceGetAttribute(&per_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
  CUDA_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&one, static_shared_kernel, 1, 256));
  CUDA_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&two, static_shared_kernel, 2, 256));
  EXPECT(two > 0 && two <= one && one <= static_cast<size_t>(per_multiprocessor));
  int grid = 0, block = 0;
  CUDA_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, static_shared_kernel, 0, 0));
  EXPECT(grid >= 1 && block >= 32 && block <= 1024);
}

CHECK_MAIN()
