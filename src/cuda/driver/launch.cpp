// Launches. "CUDA Driver API, Execution Control".

#include "cuda/driver/launch.h"

#include <cstring>
#include <optional>

#include "runtime/capture.h"
#include "runtime/host_function.h"
#include "runtime/launch.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

/// The packed parameter block that `extra` describes.
Result<std::vector<std::byte>> packed_parameters(const Function& function, void** extra) {
  const void* buffer = nullptr;
  std::optional<size_t> size;
  for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[i + 1];
    } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      TRY(given(extra[i + 1], "the pointer to the parameter buffer's size"));
      size = *static_cast<const size_t*>(extra[i + 1]);
    } else {
      return fail(ErrorCode::InvalidValue, "extra[{}] is {}, which is no CU_LAUNCH_PARAM", i, extra[i]);
    }
  }
  const hal::KernelInfo& kernel = function.info();
  std::vector<std::byte> block(kernel.parameter_bytes);
  if (kernel.parameters.empty()) return block;
  if (!buffer || !size) return fail(ErrorCode::InvalidValue, "extra must give the parameter buffer and its size");
  const uint64_t needed = uint64_t{kernel.parameters.back().offset} + kernel.parameters.back().size;
  if (*size < needed)
    return fail(ErrorCode::InvalidValue, "the parameter buffer has {} bytes; {} takes {}", *size, kernel.name, needed);
  std::memcpy(block.data(), buffer, std::min<size_t>(*size, block.size()));
  return block;
}

}  // namespace

Result<std::vector<std::byte>> cupola::driver::parameter_block(const Function& function, void** parameters,
                                                               void** extra) {
  if (parameters && extra) return fail(ErrorCode::InvalidValue, "kernelParams and extra are both given; give one");
  return extra ? packed_parameters(function, extra) : gather_parameters(function, parameters);
}

namespace {

Result<> launch_on(CUstream stream_handle, CUfunction handle, const LaunchShape& shape, void** kernelParams,
                   void** extra, std::vector<LaunchAttribute> attributes = {}) {
  TRY(std::shared_ptr<Function> function, Runtime::get().function(handle));
  TRY(std::shared_ptr<Stream> stream, capturable_stream(stream_handle));
  TRY(std::vector<std::byte> parameters, parameter_block(*function, kernelParams, extra));
  return launch(*stream, function, shape, std::move(parameters), std::move(attributes));
}

/// What the attributes of cuLaunchKernelEx ask for beyond hints.
struct LaunchWishes {
  bool cooperative = false;
  CUevent event_after = nullptr;
  std::vector<LaunchAttribute> kept;  ///< for a captured launch
};

Result<LaunchWishes> read_attributes(const CUlaunchConfig& config) {
  LaunchWishes wishes;
  if (config.numAttrs) TRY(given(config.attrs, "attrs"));
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttributeValue& value = config.attrs[i].value;
    wishes.kept.push_back({config.attrs[i].id, {}});
    std::memcpy(wishes.kept.back().value.data(), &value, sizeof value);
    switch (config.attrs[i].id) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        wishes.cooperative = value.cooperative;
        break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        if (uint64_t{value.clusterDim.x} * value.clusterDim.y * value.clusterDim.z > 1)
          return fail(
              ErrorCode::InvalidClusterSize,
              "a cluster of {} x {} x {} blocks was asked for; the device reports compute capability 8.9, which has "
              "none",
              value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
        break;
      // Both fire early on a GPU; at the end is later, and never wrong.
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        wishes.event_after = value.programmaticEvent.event;
        break;
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        wishes.event_after = value.launchCompletionEvent.event;
        break;
      case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return fail(ErrorCode::NotSupported, "device-updatable kernel nodes are not supported");
      // Hints, or permissions to overlap that need not be used.
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        break;
    }
  }
  return wishes;
}

}  // namespace

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                        unsigned int sharedMemBytes, CUstream hStream, void** kernelParams, void** extra) {
  return api_call([&]() -> Result<> {
    const LaunchShape shape{{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes};
    return launch_on(hStream, f, shape, kernelParams, extra);
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
  return api_call([&]() -> Result<> {
    TRY(given(config, "config"));
    TRY(LaunchWishes wishes, read_attributes(*config));
    const LaunchShape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                            {config->blockDimX, config->blockDimY, config->blockDimZ},
                            config->sharedMemBytes,
                            wishes.cooperative};
    TRY(launch_on(config->hStream, f, shape, kernelParams, extra, std::move(wishes.kept)));
    if (!wishes.event_after) return {};
    TRY(std::shared_ptr<Event> event, Runtime::get().event(wishes.event_after));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(config->hStream));
    return event->record(*stream);
  });
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                   unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream, void** kernelParams) {
  return api_call([&]() -> Result<> {
    const LaunchShape shape{{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, true};
    return launch_on(hStream, f, shape, kernelParams, nullptr);
  });
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
  return api_call([&]() -> Result<> {
    if (!fn) return fail(ErrorCode::InvalidValue, "fn is null");
    TRY(std::shared_ptr<Stream> stream, capturable_stream(hStream));
    if (const std::shared_ptr<Capture> capture = stream->capture()) {
      TRY(capture->add(*stream, HostWork{fn, userData}));
      return {};
    }
    stream->submit(hal::HostCall{[fn, userData] {
      const InHostFunction scope;
      fn(userData);
    }});
    return {};
  });
}
