#include "cupola/kernel_run.h"

#include "cupola/driver_call.h"

namespace cupola::tool {
namespace {

using DevicePointer = unsigned long long;

Result<> make_buffers(const DynLib& driver, const std::vector<KernelArgument>& arguments,
                      std::vector<DevicePointer>& buffers) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind != KernelArgument::Kind::Buffer) continue;
    const std::vector<std::byte>& bytes = arguments[i].bytes;
    TRY(driver_call(driver, "cuMemAlloc_v2", &buffers[i], bytes.size()));
    TRY(driver_call(driver, "cuMemcpyHtoD_v2", buffers[i], static_cast<const void*>(bytes.data()), bytes.size()));
  }
  return {};
}

/// The driver reads as many arguments and bytes as the kernel declares. Error: InvalidValue where others are given.
Result<> check_arguments(const DynLib& driver, void* function, const KernelRun& run) {
  size_t count = 0, offset = 0, size = 0;
  for (; driver_call(driver, "cuFuncGetParamInfo", function, count, &offset, &size); ++count) {
    if (count >= run.arguments.size()) continue;
    const KernelArgument& argument = run.arguments[count];
    const size_t given = argument.kind == KernelArgument::Kind::Buffer ? sizeof(DevicePointer) : argument.bytes.size();
    if (given != size)
      return fail(ErrorCode::InvalidValue, "argument {} has {} bytes; {} takes {} there", count, given, run.kernel,
                  size);
  }
  if (count == run.arguments.size()) return {};
  return fail(ErrorCode::InvalidValue, "--args has {} arguments; {} takes {}", run.arguments.size(), run.kernel, count);
}

Result<> launch(const DynLib& driver, void* function, KernelRun& run, std::vector<DevicePointer>& buffers) {
  std::vector<void*> parameters;
  for (size_t i = 0; i < run.arguments.size(); ++i)
    parameters.push_back(run.arguments[i].kind == KernelArgument::Kind::Buffer
                             ? static_cast<void*>(&buffers[i])
                             : static_cast<void*>(run.arguments[i].bytes.data()));
  return driver_call(driver, "cuLaunchKernel", function, run.grid.x, run.grid.y, run.grid.z, run.block.x, run.block.y,
                     run.block.z, run.shared_bytes, static_cast<void*>(nullptr), parameters.data(),
                     static_cast<void**>(nullptr));
}

}  // namespace

Result<> run_kernel(const std::filesystem::path& libraries, std::span<const std::byte> image, KernelRun& run) {
  TRY(const DynLib driver, open_driver(libraries));
  int device = 0;
  void *context = nullptr, *function = nullptr;
  TRY(driver_call(driver, "cuInit", 0u));
  TRY(driver_call(driver, "cuDeviceGet", &device, 0));
  TRY(driver_call(driver, "cuDevicePrimaryCtxRetain", &context, device));
  TRY(driver_call(driver, "cuCtxSetCurrent", context));
  TRY(void* module, load_module(driver, image));
  TRY(driver_call(driver, "cuModuleGetFunction", &function, module, run.kernel.c_str()));
  TRY(check_arguments(driver, function, run));
  std::vector<DevicePointer> buffers(run.arguments.size());
  TRY(make_buffers(driver, run.arguments, buffers));
  TRY(launch(driver, function, run, buffers));
  TRY(driver_call(driver, "cuCtxSynchronize"));
  for (size_t i = 0; i < buffers.size(); ++i) {
    KernelArgument& argument = run.arguments[i];
    if (argument.prints)
      TRY(driver_call(driver, "cuMemcpyDtoH_v2", static_cast<void*>(argument.bytes.data()), buffers[i],
                      argument.bytes.size()));
  }
  return {};
}

}  // namespace cupola::tool
