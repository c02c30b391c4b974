#include "device_functions.cuh"

__device__ int calls = 0;

__device__ int twice(int x) {
  atomicAdd(&calls, 1);
  return 2 * x;
}
