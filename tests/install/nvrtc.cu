// Compiles a kernel at run time with the installation's libraries and headers, and runs it.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <vector>

int main() {
  const char* source =
      "#include <cuda_fp16.h>\nextern \"C\" __global__ void k(int* x) { *x = __half2int_rn(__float2half(42.0f)); }";
  const char* options[] = {"-arch=sm_89"};
  nvrtcProgram program;
  if (nvrtcCreateProgram(&program, source, "k.cu", 0, nullptr, nullptr)) return 1;
  if (nvrtcCompileProgram(program, 1, options)) return 2;
  size_t size = 0;
  if (nvrtcGetPTXSize(program, &size)) return 3;
  std::vector<char> ptx(size);
  if (nvrtcGetPTX(program, ptx.data())) return 4;
  int* x = nullptr;
  int result = 0;
  if (cudaMalloc(&x, sizeof *x)) return 5;
  CUmodule module;
  CUfunction kernel;
  if (cuModuleLoadData(&module, ptx.data()) || cuModuleGetFunction(&kernel, module, "k")) return 6;
  void* arguments[] = {&x};
  if (cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)) return 7;
  if (cudaMemcpy(&result, x, sizeof result, cudaMemcpyDeviceToHost)) return 8;
  return result == 42 ? 0 : 9;
}
