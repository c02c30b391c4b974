#include "device.h"

#include "base/format.h"

namespace cupola::libdevicetest {
namespace {

constexpr unsigned kBlock = 256;

}  // namespace

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
