#include "device.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"

namespace cupola::ptxtest {

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

std::string Device::name() const {
  char text[256] = {};
  cuDeviceGetName(text, sizeof text, device_);
  return text;
}

bool Device::load(std::span<const Case* const> cases) {
  if (module_) cuModuleUnload(module_);
  module_ = nullptr;
  const std::string text = module_text(cases);
  char log[2048] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const CUresult result = cuModuleLoadDataEx(&module_, text.c_str(), 2, options, values);
  if (ok(result, "cuModuleLoadDataEx")) return true;
  module_ = nullptr;
  log[sizeof log - 1] = 0;
  std::string_view message(log, std::strlen(log));
  error += formatted(": {}", message.substr(0, std::min(message.find('\n'), size_t{200})));
  return false;
}

CUdeviceptr Device::buffer(size_t index, size_t bytes) {
  Buffer& held = buffers_[index];
  if (held.bytes >= bytes) return held.address;
  if (held.address) cuMemFree(held.address);
  held = {0, bytes * 2};
  if (!ok(cuMemAlloc(&held.address, held.bytes), "cuMemAlloc")) held = {};
  return held.address;
}

bool Device::run(const Case& of, size_t number, std::span<const uint64_t> inputs, unsigned set_count,
                 std::vector<uint64_t>& outputs) {
  const size_t blocks = (set_count + kBlock - 1) / kBlock;
  const size_t out_bytes = set_count * of.outputs.size() * 8;
  CUdeviceptr in = buffer(0, inputs.size_bytes() + 8), out = buffer(1, out_bytes + 8),
              scratch = buffer(2, blocks * kBlock * kScratchBytes);
  if (!in || !out || !scratch) return false;
  CUfunction kernel = nullptr;
  if (!ok(cuModuleGetFunction(&kernel, module_, formatted("k{}", number).c_str()), "cuModuleGetFunction")) return false;
  if (!inputs.empty() && !ok(cuMemcpyHtoD(in, inputs.data(), inputs.size_bytes()), "cuMemcpyHtoD")) return false;
  if (!ok(cuMemsetD8(out, 0, out_bytes), "cuMemsetD8")) return false;
  alignas(16) uint8_t constants[kConstants];
  for (unsigned i = 0; i < kConstants; ++i) constants[i] = constant_byte(i);
  void* parameters[] = {&in, &out, &scratch, &set_count, constants};
  if (!ok(cuLaunchKernel(kernel, static_cast<unsigned>(blocks), 1, 1, kBlock, 1, 1, 0, nullptr, parameters, nullptr),
          "cuLaunchKernel") ||
      !ok(cuCtxSynchronize(), "cuCtxSynchronize"))
    return false;
  outputs.assign(set_count * of.outputs.size(), 0);
  return ok(cuMemcpyDtoH(outputs.data(), out, out_bytes), "cuMemcpyDtoH");
}

}  // namespace cupola::ptxtest
