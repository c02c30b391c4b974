extern "C" __global__ void fill(int* values, int value) {
  values[threadIdx.x] = value + threadIdx.x;
}
