// Floats, doubles in integers, a function that is called, and atomics, of threads that do not wait for each other.
__device__ __noinline__ double halved(float x) {
  return x / 2.0;
}

__global__ void saxpy(float a, const float* x, float* y, double* z, int n, unsigned* count, int* least) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  y[i] = a * x[i] + y[i];
  z[i] = halved(y[i]) + 0.1;
  atomicAdd(count, 1u);
  atomicMin(least, -i);
}

int main() {}
