// __device__ and __constant__ variables, from kernels and from the host. Oracle: the values written.

#include "check.h"

__device__ int counter = 41;
__device__ float table[4] = {1.5f, 2.5f, 3.5f, 4.5f};
__constant__ double weights[3] = {0.25, 0.5, 1.0};
__constant__ int settings[2];
static __device__ unsigned long long hidden = 7;
__device__ int* pointer_to_counter = &counter;
__device__ const char message[] = "constant text";

__global__ void read_kernel(double* out) {
  out[0] = counter;
  out[1] = table[2];
  out[2] = weights[0] + weights[1] + weights[2];
  out[3] = settings[0] * 100 + settings[1];
  out[4] = static_cast<double>(hidden);
  out[5] = *pointer_to_counter;
  out[6] = message[3];
  ++counter;
}

CASE(initial_values_and_copies) {
  const int host_settings[2] = {3, 14};
  CUDA_OK(cudaMemcpyToSymbol(settings, host_settings, sizeof host_settings));
  check::Managed<double> out(7);
  read_kernel<<<1, 1>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  const double expected[] = {41, 3.5, 1.75, 314, 7, 41, 's'};
  for (int i = 0; i < 7; ++i) EXPECT_EQUAL_AT(i, out[i], expected[i]);
  int after = 0;
  CUDA_OK(cudaMemcpyFromSymbol(&after, counter, sizeof after));
  EXPECT_EQUAL(after, 42);
}

CASE(offsets_addresses_and_sizes) {
  float value = 9;
  CUDA_OK(cudaMemcpyToSymbol(table, &value, sizeof value, 3 * sizeof(float)));
  void* address = nullptr;
  size_t size = 0;
  CUDA_OK(cudaGetSymbolAddress(&address, table));
  CUDA_OK(cudaGetSymbolSize(&size, table));
  EXPECT_EQUAL(size, sizeof table);
  float back[4] = {};
  CUDA_OK(cudaMemcpy(back, address, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT_EQUAL(back[0], 1.5f);
  EXPECT_EQUAL(back[3], 9.0f);
}

CASE(a_symbol_that_is_none_is_refused) {
  int not_a_symbol = 0;
  EXPECT_CUDA(cudaMemcpyToSymbol(not_a_symbol, &not_a_symbol, sizeof not_a_symbol), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidSymbol);
}

CHECK_MAIN()
