#include "device.h"

#include "base/format.h"

namespace cupola::ptxtest {

std::string Device::name() const {
  char text[256] = {};
  cuDeviceGetName(text, sizeof text, device_);
  return text;
}

bool Device::load(std::span<const Case* const> cases) {
  return load_image(module_text(cases).c_str());
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
