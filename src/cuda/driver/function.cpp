// Functions and their attributes, and occupancy. "CUDA Driver API, Execution Control, Occupancy, Library Management".

#include <algorithm>

#include "cuda/driver/api.h"
#include "runtime/launch.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

const hal::DeviceProperties& device_of(const Function& function) {
  return function.context().device().properties();
}

Result<int> attribute_of(const Function& function, CUfunction_attribute attribute) {
  const hal::KernelInfo& kernel = function.info();
  const hal::DeviceProperties& device = device_of(function);
  const auto capability = static_cast<int>(device.compute_capability_major * 10 + device.compute_capability_minor);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return static_cast<int>(std::min(kernel.max_threads_per_block, device.max_threads_per_block));
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(kernel.static_shared_bytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return static_cast<int>(kernel.constant_bytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(kernel.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return static_cast<int>(kernel.registers);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return capability;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return static_cast<int>(most_dynamic_shared(function));
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return function.carveout.load();
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return 0;
    case CU_FUNC_ATTRIBUTE_MAX:
      break;
  }
  return fail(ErrorCode::InvalidValue, "attribute {} is not one of CUfunction_attribute", static_cast<int>(attribute));
}

Result<> set_attribute(Function& function, CUfunction_attribute attribute, int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    const hal::DeviceProperties& device = device_of(function);
    const uint32_t most = device.dynamic_shared_beside(function.info(), device.shared_bytes_per_block_optin);
    if (value < 0 || static_cast<uint32_t>(value) > most)
      return fail(ErrorCode::InvalidValue, "{} bytes of dynamic shared memory were asked for; {} may have {}", value,
                  function.info().name, most);
    function.max_dynamic_shared = value;
    return {};
  }
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    if (value < -1 || value > 100)
      return fail(ErrorCode::InvalidValue, "a carveout of {} percent; give 0 to 100, or -1 for the driver's choice",
                  value);
    function.carveout = value;
    return {};
  }
  return fail(ErrorCode::InvalidValue, "function attribute {} cannot be set", static_cast<int>(attribute));
}

Result<> set_cache_config(Function& function, CUfunc_cache config) {
  if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
    return fail(ErrorCode::InvalidValue, "config is {}, which is no CUfunc_cache", static_cast<int>(config));
  function.cache_config = config;
  return {};
}

Result<> parameter_info(const Function& function, size_t index, size_t* offset, size_t* size) {
  TRY(given(offset, "paramOffset"));
  const auto& parameters = function.info().parameters;
  if (index >= parameters.size()) return refuse(ErrorCode::InvalidValue);  // how callers count parameters
  *offset = parameters[index].offset;
  if (size) *size = parameters[index].size;
  return {};
}

/// The function of a CUkernel on a device, whose context must be current.
Result<std::shared_ptr<Function>> function_of(CUkernel handle, CUdevice dev) {
  TRY(std::shared_ptr<Kernel> kernel, Runtime::get().kernel(handle));
  TRY(Runtime::get().device(dev));
  TRY(std::shared_ptr<Context> context, current_context());
  if (context->device().ordinal() != dev)
    return fail(ErrorCode::InvalidDevice, "the current context is of device {}, not {}", context->device().ordinal(),
                dev);
  return kernel->function(*context);
}

}  // namespace

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  return api_call([&]() -> Result<> {
    TRY(given(pi, "pi"));
    TRY(std::shared_ptr<Function> function, Runtime::get().function(hfunc));
    TRY(*pi, attribute_of(*function, attrib));
    return {};
  });
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Function> function, Runtime::get().function(hfunc));
    return set_attribute(*function, attrib, value);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Function> function, Runtime::get().function(hfunc));
    return set_cache_config(*function, config);
  });
}

CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
  return api_call([&]() -> Result<> {
    TRY(Runtime::get().function(hfunc));
    if (config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE || config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
      return fail(ErrorCode::InvalidValue, "config is {}, which is no CUsharedconfig", static_cast<int>(config));
    return {};  // shared memory has no banks here
  });
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
  return api_call([&]() -> Result<> {
    TRY(given(hmod, "hmod"));
    TRY(std::shared_ptr<Function> function, Runtime::get().function(hfunc));
    *hmod = handle_of<CUmodule>(function->module());
    return {};
  });
}

CUresult cuFuncGetName(const char** name, CUfunction hfunc) {
  return api_call([&]() -> Result<> {
    TRY(given(name, "name"));
    TRY(given(hfunc, "hfunc"));
    TRY(std::shared_ptr<Function> function, Runtime::get().function(hfunc));
    *name = function->info().name.c_str();
    return {};
  });
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Function> function, Runtime::get().function(func));
    return parameter_info(*function, paramIndex, paramOffset, paramSize);
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return api_call([&]() -> Result<> {
    TRY(given(state, "state"));
    TRY(given(function, "function"));
    TRY(const std::shared_ptr<Function> kernel, Runtime::get().function(function));
    const bool loaded = kernel->executable()->has_code(kernel->index());
    *state = loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return {};
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return api_call([&]() -> Result<> {
    TRY(given(function, "function"));
    TRY(const std::shared_ptr<Function> kernel, Runtime::get().function(function));
    const hal::Dim3& required = kernel->info().required_block;
    constexpr hal::Dim3 kUsual{256};
    return kernel->executable()->prepare(kernel->index(), required.count() ? required : kUsual);
  });
}

CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(pi, "pi"));
    TRY(std::shared_ptr<Function> function, function_of(kernel, dev));
    TRY(*pi, attribute_of(*function, attrib));
    return {};
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Function> function, function_of(kernel, dev));
    return set_attribute(*function, attrib, val);
  });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Function> function, function_of(kernel, dev));
    return set_cache_config(*function, config);
  });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Kernel> found, Runtime::get().kernel(kernel));
    TRY(std::shared_ptr<Context> context, current_context());
    TRY(std::shared_ptr<Function> function, found->function(*context));
    return parameter_info(*function, paramIndex, paramOffset, paramSize);
  });
}

// ---- occupancy ----

namespace {

Result<> check_occupancy_flags(unsigned flags) {
  if (flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) return {};
  return fail(ErrorCode::InvalidValue, "the occupancy flags are {:#x}; give 0 or CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE",
              flags);
}

}  // namespace

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(numBlocks, "numBlocks"));
    TRY(check_occupancy_flags(flags));
    TRY(std::shared_ptr<Function> function, Runtime::get().function(func));
    if (blockSize < 1) return fail(ErrorCode::InvalidValue, "blockSize is {}; it must be at least 1", blockSize);
    const bool fits = dynamicSMemSize <= device_of(*function).shared_bytes_per_block_optin;
    *numBlocks = fits ? static_cast<int>(active_blocks(*function, static_cast<uint32_t>(blockSize),
                                                       static_cast<uint32_t>(dynamicSMemSize)))
                      : 0;
    return {};
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize) {
  return forwarded([&] {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize, 0);
  });
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(minGridSize, "minGridSize"));
    TRY(given(blockSize, "blockSize"));
    TRY(check_occupancy_flags(flags));
    TRY(std::shared_ptr<Function> function, Runtime::get().function(func));
    const hal::DeviceProperties& device = device_of(*function);
    const uint32_t allowed = std::min(device.max_threads_per_block, function->info().max_threads_per_block);
    uint32_t limit = blockSizeLimit > 0 ? std::min(static_cast<uint32_t>(blockSizeLimit), allowed) : allowed;
    uint32_t best_threads = 0, best_block = 0, best_active = 0;
    const uint32_t warp = device.warp_size;
    // From the largest block, whole warps after the first; the first that keeps the most threads busy wins.
    for (uint32_t block = limit; block > 0; block = block <= warp ? 0 : (block - 1) / warp * warp) {
      const size_t shared =
          blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(static_cast<int>(block)) : dynamicSMemSize;
      if (shared > device.shared_bytes_per_block_optin) continue;
      const uint32_t active = active_blocks(*function, block, static_cast<uint32_t>(shared));
      if (active * block <= best_threads) continue;
      best_threads = active * block;
      best_block = block;
      best_active = active;
    }
    if (best_block == 0) return fail(ErrorCode::InvalidValue, "no block size fits {}", function->info().name);
    *blockSize = static_cast<int>(best_block);
    *minGridSize = static_cast<int>(best_active * device.multiprocessors);
    return {};
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                          int blockSizeLimit) {
  return forwarded([&] {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
                                                     dynamicSMemSize, blockSizeLimit, 0);
  });
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func, int numBlocks,
                                                 int blockSize) {
  return api_call([&]() -> Result<> {
    TRY(given(dynamicSmemSize, "dynamicSmemSize"));
    TRY(std::shared_ptr<Function> function, Runtime::get().function(func));
    if (numBlocks < 1 || blockSize < 1)
      return fail(ErrorCode::InvalidValue, "{} blocks of {} threads; each must be at least 1", numBlocks, blockSize);
    if (active_blocks(*function, static_cast<uint32_t>(blockSize), 0) < static_cast<uint32_t>(numBlocks))
      return fail(ErrorCode::InvalidValue, "{} blocks of {} threads do not fit on a multiprocessor", numBlocks,
                  blockSize);
    const hal::DeviceProperties& device = device_of(*function);
    const uint32_t each = device.shared_bytes_per_block_optin / static_cast<uint32_t>(numBlocks);
    *dynamicSmemSize = device.dynamic_shared_beside(function->info(), each);
    return {};
  });
}
