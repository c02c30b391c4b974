// Launches. "CUDA Runtime API, Execution Control".

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"
#include "cuda/cudart/registry.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

/// What the device can be asked for: the driver answers a launch beyond it with "invalid value", the runtime must say
/// "invalid configuration".
struct LaunchLimits {
  int threads;
  int block[3];
  int grid[3];
};

Result<LaunchLimits> read_limits(const Driver& cu) {
  CUdevice device = 0;
  TRY(check(cu.cuCtxGetDevice(&device)));
  LaunchLimits limits{};
  auto read = [&](int& value, CUdevice_attribute attribute) {
    return check(cu.cuDeviceGetAttribute(&value, attribute, device));
  };
  TRY(read(limits.threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  for (int axis = 0; axis < 3; ++axis) {
    TRY(read(limits.block[axis], static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis)));
    TRY(read(limits.grid[axis], static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis)));
  }
  return limits;
}

Result<LaunchLimits> limits_of(const Driver& cu, CUcontext context) {
  struct Known {
    const Driver* driver;
    CUcontext context;
    LaunchLimits limits;
  };
  constinit thread_local Known known{};
  if (known.driver != &cu || known.context != context) {
    TRY(LaunchLimits limits, read_limits(cu));
    known = {&cu, context, limits};
  }
  return known.limits;
}

Result<> check_shape(const Driver& cu, CUcontext context, const dim3& grid, const dim3& block) {
  TRY(LaunchLimits limits, limits_of(cu, context));
  const unsigned asked_grid[3] = {grid.x, grid.y, grid.z};
  const unsigned asked_block[3] = {block.x, block.y, block.z};
  for (int axis = 0; axis < 3; ++axis) {
    if (asked_grid[axis] == 0 || asked_grid[axis] > static_cast<unsigned>(limits.grid[axis])) {
      return fail(ErrorCode::InvalidValue, "grid.{} is {}; it must be 1 to {}", "xyz"[axis], asked_grid[axis],
                  limits.grid[axis]);
    }
    if (asked_block[axis] == 0 || asked_block[axis] > static_cast<unsigned>(limits.block[axis])) {
      return fail(ErrorCode::InvalidValue, "block.{} is {}; it must be 1 to {}", "xyz"[axis], asked_block[axis],
                  limits.block[axis]);
    }
  }
  uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (threads > static_cast<unsigned>(limits.threads)) {
    return fail(ErrorCode::InvalidValue, "a block of {} x {} x {} has {} threads; the device takes {}", block.x,
                block.y, block.z, threads, limits.threads);
  }
  return {};
}

Result<unsigned> shared_bytes(size_t bytes) {
  if (bytes <= UINT32_MAX) return static_cast<unsigned>(bytes);
  return fail(ErrorCode::InvalidValue, "{} bytes of shared memory are more than any device has", bytes);
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                             cudaStream_t stream) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    TRY(check_shape(cu, context, gridDim, blockDim));
    TRY(unsigned shared, shared_bytes(sharedMem));
    return check(cu.cuLaunchKernel(kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z, shared,
                                   stream, args, nullptr));
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                                        cudaStream_t stream) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    TRY(check_shape(cu, context, gridDim, blockDim));
    TRY(unsigned shared, shared_bytes(sharedMem));
    return check(cu.cuLaunchCooperativeKernel(kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y,
                                              blockDim.z, shared, stream, args));
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));  // one layout under two names
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(config, "config"));
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    TRY(check_shape(cu, context, config->gridDim, config->blockDim));
    TRY(unsigned shared, shared_bytes(config->dynamicSmemBytes));
    CUlaunchConfig launch{};
    launch.gridDimX = config->gridDim.x;
    launch.gridDimY = config->gridDim.y;
    launch.gridDimZ = config->gridDim.z;
    launch.blockDimX = config->blockDim.x;
    launch.blockDimY = config->blockDim.y;
    launch.blockDimZ = config->blockDim.z;
    launch.sharedMemBytes = shared;
    launch.hStream = config->stream;
    launch.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);
    launch.numAttrs = config->numAttrs;
    return check(cu.cuLaunchKernelEx(&launch, kernel, args, nullptr));
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(reinterpret_cast<const void*>(fn), "fn"));
    return check(cu.cuLaunchHostFunc(stream, fn, userData));
  });
}
