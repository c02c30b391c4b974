// The device code that the driver tests load: compiled alone to module_kernels.fatbin.

struct Mixed {
  char letter;
  double number;
};

__device__ int module_counter = 40;
__constant__ float module_factor = 3.0f;

extern "C" __global__ void axpy(float* y, const float* x, float a, int count) {
  int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) y[i] += a * x[i] * module_factor;
}

extern "C" __global__ void mixed_parameters(double* out, char a, Mixed mixed, long long b) {
  *out = a + mixed.letter + mixed.number + static_cast<double>(b);
}

extern "C" __global__ void count_up(int* out) {
  extern __shared__ int window[];
  window[0] = ++module_counter;
  *out = window[0];
}

extern "C" __global__ void meet(int* arrived) {
  atomicAdd(arrived, 1);
  while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) {
  }
}
