// error: call to __host__ function from __global__ function
__global__ void k() {
  cudaDeviceSynchronize();
}
