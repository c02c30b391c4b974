// Launches. "CUDA Driver API, Execution Control".

#include "cuda/driver/launch.h"

#include <cstring>
#include <map>
#include <optional>
#include <span>

#include "cuda/driver/launch_attributes.h"
#include "runtime/capture.h"
#include "runtime/host_function.h"
#include "runtime/launch.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

/// The packed parameter block that `extra` describes.
Result<hal::ParameterBlock> packed_parameters(const Function& function, void** extra) {
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
  hal::ParameterBlock block(kernel.parameter_bytes);
  if (kernel.parameters.empty()) return block;
  if (!buffer || !size) return fail(ErrorCode::InvalidValue, "extra must give the parameter buffer and its size");
  const uint64_t needed = uint64_t{kernel.parameters.back().offset} + kernel.parameters.back().size;
  if (*size < needed)
    return fail(ErrorCode::InvalidValue, "the parameter buffer has {} bytes; {} takes {}", *size, kernel.name, needed);
  std::memcpy(block.data(), buffer, std::min<size_t>(*size, block.size()));
  return block;
}

}  // namespace

Result<hal::ParameterBlock> cupola::driver::parameter_block(const Function& function, void** parameters, void** extra) {
  if (parameters && extra) return fail(ErrorCode::InvalidValue, "kernelParams and extra are both given; give one");
  return extra ? packed_parameters(function, extra) : gather_parameters(function, parameters);
}

namespace {

Result<> launch_on(CUstream stream_handle, CUfunction handle, const LaunchShape& shape, void** kernelParams,
                   void** extra) {
  TRY(std::shared_ptr<Function> function, Runtime::get().function(handle));
  TRY(std::shared_ptr<Stream> stream, capturable_stream(stream_handle));
  TRY(hal::ParameterBlock parameters, parameter_block(*function, kernelParams, extra));
  return launch(*stream, function, shape, std::move(parameters));
}

/// What the attributes of cuLaunchKernelEx ask for beyond hints.
struct LaunchWishes {
  bool cooperative = false;
  std::map<CUlaunchAttributeID, std::shared_ptr<Event>> events;  ///< one of each kind: the last one that is given
};

/// Errors: those of an H200 (driver 580).
Result<std::shared_ptr<Event>> event_of_launch(CUevent handle, int flags) {
  TRY(std::shared_ptr<Event> event, Runtime::get().event(handle));
  if (flags == CU_EVENT_RECORD_EXTERNAL)
    return fail(ErrorCode::IllegalState, "the event of a launch cannot be recorded as an external one");
  if (flags != CU_EVENT_RECORD_DEFAULT)
    return fail(ErrorCode::InvalidValue, "the flags of a launch's event are {:#x}; they must be 0", flags);
  if (!event->timing()) return event;
  return fail(ErrorCode::NotSupported, "the event of a launch must be made without timing");
}

Result<LaunchWishes> read_attributes(std::span<const CUlaunchAttribute> attributes) {
  LaunchWishes wishes;
  for (const auto& [id, pad, value] : attributes) {
    TRY(check_attribute(AttributeOf::Launch, id, value));
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) wishes.cooperative = value.cooperative;
    if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
      TRY(wishes.events[id], event_of_launch(value.programmaticEvent.event, value.programmaticEvent.flags));
    }
    if (id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
      TRY(wishes.events[id], event_of_launch(value.launchCompletionEvent.event, value.launchCompletionEvent.flags));
    }
  }
  return wishes;
}

/// Those that a node of a captured launch keeps.
LaunchAttributes kept_attributes(std::span<const CUlaunchAttribute> attributes) {
  LaunchAttributes kept;
  for (const auto& [id, pad, value] : attributes) (void)set_attribute(AttributeOf::KernelNode, kept, id, value);
  return kept;
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
    if (config->numAttrs) TRY(given(config->attrs, "attrs"));
    const std::span<const CUlaunchAttribute> attributes(config->attrs, config->numAttrs);
    TRY(const LaunchWishes wishes, read_attributes(attributes));
    const LaunchShape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                            {config->blockDimX, config->blockDimY, config->blockDimZ},
                            config->sharedMemBytes,
                            wishes.cooperative};
    TRY(std::shared_ptr<Function> function, Runtime::get().function(f));
    TRY(std::shared_ptr<Stream> stream, capturable_stream(config->hStream));
    TRY(hal::ParameterBlock parameters, parameter_block(*function, kernelParams, extra));
    TRY(launch(*stream, function, shape, std::move(parameters),
               stream->capture() ? kept_attributes(attributes) : LaunchAttributes{}));
    // Both fire early on a GPU; at the end is later, and never wrong.
    for (const auto& [kind, event] : wishes.events) TRY(event->record(*stream));
    return {};
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
    stream->post(hal::HostCall{[fn, userData] { call_host_function(fn, userData); }});
    return {};
  });
}
