#include "device.h"

#include "base/format.h"

namespace cupola::libdevicetest {
namespace {

constexpr unsigned kBlock = 256;

}  // namespace

Device::~Device() {
  if (context_) cuDevicePrimaryCtxRelease(device_);
}

bool Device::ok(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return true;
  const char* text = nullptr;
  cuGetErrorName(result, &text);
  error = formatted("{}: {}", what, text ? text : "unknown error");
  return false;
}

bool Device::open() {
  return ok(cuInit(0), "cuInit") && ok(cuDeviceGet(&device_, 0), "cuDeviceGet") &&
         ok(cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain") &&
         ok(cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

bool Device::load(const std::string& image) {
  if (module_) cuModuleUnload(module_);
  module_ = nullptr;
  char log[2048] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  if (ok(cuModuleLoadDataEx(&module_, image.data(), 2, options, values), "cuModuleLoadDataEx")) return true;
  module_ = nullptr;
  error += formatted(": {}", log);
  return false;
}

bool Device::run(const Row& row, std::span<const Slot> inputs, std::vector<Slot>& outputs) {
  unsigned count = static_cast<unsigned>(inputs.size() / input_slots(row));
  outputs.assign(static_cast<size_t>(count) * output_slots(row), 0xcccccccccccccccc);
  CUdeviceptr in = 0, out = 0;
  CUfunction kernel = nullptr;
  const size_t out_bytes = outputs.size() * sizeof(Slot);
  bool done = ok(cuModuleGetFunction(&kernel, module_, formatted("k_{}", row.name).c_str()), "cuModuleGetFunction") &&
              ok(cuMemAlloc(&in, inputs.size_bytes()), "cuMemAlloc") && ok(cuMemAlloc(&out, out_bytes), "cuMemAlloc") &&
              ok(cuMemcpyHtoD(in, inputs.data(), inputs.size_bytes()), "cuMemcpyHtoD");
  void* parameters[] = {&in, &out, &count};
  done = done &&
         ok(cuLaunchKernel(kernel, (count + kBlock - 1) / kBlock, 1, 1, kBlock, 1, 1, 0, nullptr, parameters, nullptr),
            "cuLaunchKernel") &&
         ok(cuCtxSynchronize(), "cuCtxSynchronize") && ok(cuMemcpyDtoH(outputs.data(), out, out_bytes), "cuMemcpyDtoH");
  if (in) cuMemFree(in);
  if (out) cuMemFree(out);
  return done;
}

}  // namespace cupola::libdevicetest
