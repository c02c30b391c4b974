#include <cuda.h>

#include <fstream>
#include <iterator>
#include <string>

int main() {
  std::ifstream file(PTX);
  const std::string ptx(std::istreambuf_iterator<char>(file), {});
  if (ptx.find(".target sm_80") == ptx.npos) return 1;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction fill;
  CUdeviceptr values;
  int value = 40, host[4] = {};
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
    return 2;
  if (cuModuleLoadData(&module, ptx.c_str()) || cuModuleGetFunction(&fill, module, "fill")) return 3;
  if (cuMemAlloc(&values, sizeof host)) return 4;
  void* arguments[] = {&values, &value};
  if (cuLaunchKernel(fill, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr)) return 5;
  if (cuMemcpyDtoH(host, values, sizeof host)) return 6;
  for (int i = 0; i < 4; ++i)
    if (host[i] != 40 + i) return 7;
  return 0;
}
