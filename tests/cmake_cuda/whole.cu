static_assert(__cplusplus == STANDARD, "CUDA_STANDARD");

__global__ void square(int* values) {
  values[threadIdx.x] *= values[threadIdx.x];
}

int main() {
  int host[32], *device;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  square<<<1, 32>>>(device);
  if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (int i = 0; i < 32; ++i)
    if (host[i] != i * i) return 2;
  return 0;
}
