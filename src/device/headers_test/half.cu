// The 16-bit floating-point types.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T>
__device__ T blend(T a, T b) {
  T c = a * b + a - b / a;
  c += a;
  return a < b ? __hfma(a, b, c) : -__hmax(c, hexp(a));
}

__global__ void halves(half* h, half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2, float* f) {
  h[0] = blend(h[1], __float2half(f[0]));
  b[0] = blend(b[1], __float2bfloat16(f[0]));
  h2[0] = __hadd2(h2[1], __floats2half2_rn(f[0], f[1])) * __half2half2(h[0]);
  b2[0] = __hfma2(b2[1], b2[2], __floats2bfloat162_rn(f[0], f[1]));
  const float2 pair = __half22float2(h2[0]);
  f[2] = pair.x + __low2float(h2[0]) + __bfloat162float(b[0]) + (float)h[0] + __half2float(__shfl_sync(~0u, h[0], 3));
  atomicAdd(h, __ldg(h + 1));
  atomicAdd(b2, b2[1]);
}

int main() {
  const half x = __float2half(1.5f) + half(2.0f);
  const __nv_bfloat16 y = __float2bfloat16(1.5f) * __nv_bfloat16(2.0f);
  halves<<<1, 32>>>(nullptr, nullptr, nullptr, nullptr, nullptr);
  return (int)__half2float(x) + (int)__bfloat162float(y);
}
