// Prints from device code. The lines of different threads may come in any order; the host checks how many came, by the
// return values of printf.

#include "example.h"

__global__ void greet(int* arguments) {
  if (threadIdx.x % 2 == 0)
    arguments[blockIdx.x * blockDim.x + threadIdx.x] =
        printf("block %u, thread %2u: %s, pi is about %.5f, flags %#06x\n", blockIdx.x, threadIdx.x, "hello",
               3.14159265358979, 1u << threadIdx.x);
}

int main() {
  int* arguments;
  CHECK_CUDA(cudaMallocManaged(&arguments, 16 * sizeof(int)));
  CHECK_CUDA(cudaMemset(arguments, 0, 16 * sizeof(int)));
  greet<<<2, 8>>>(arguments);
  CHECK_CUDA(cudaDeviceSynchronize());
  bool right = true;
  for (int i = 0; i < 16; ++i) right &= arguments[i] == (i % 2 == 0 ? 5 : 0);  // five arguments after the format
  CHECK_CUDA(cudaFree(arguments));
  return verdict("printf on the device", right);
}
