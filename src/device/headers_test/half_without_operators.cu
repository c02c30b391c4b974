// The 16-bit types of a program that has operators and conversions of its own.
#define __CUDA_NO_HALF_OPERATORS__
#define __CUDA_NO_HALF_CONVERSIONS__
#define __CUDA_NO_HALF2_OPERATORS__
#define __CUDA_NO_BFLOAT16_OPERATORS__
#define __CUDA_NO_BFLOAT16_CONVERSIONS__
#define __CUDA_NO_BFLOAT162_OPERATORS__
#define CUDA_NO_HALF
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct half {
  __half value;
};

__host__ __device__ __half operator+(const __half& a, const __half& b) {
  return __hadd(a, b);
}
__host__ __device__ bool operator<(const __nv_bfloat16& a, const __nv_bfloat16& b) {
  return __hlt(a, b);
}
__host__ __device__ __half2 operator*(const __half2& a, const __half2& b) {
  return __hmul2(a, b);
}

__global__ void halves(half* h, __half2* pair, bool* less) {
  h->value = h->value + hsin(h->value);
  *pair = *pair * h2exp(*pair);
  *less = __float2bfloat16(1.0f) < __nv_bfloat16(h->value);
}

int main() {
  const __half two = __float2half(1.0f) + CUDART_ONE_FP16;
  return __half2int_rn(two) == 2 ? 0 : 1;
}
