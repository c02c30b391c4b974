// 6-bit and 4-bit floating point.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
__global__ void k(__nv_fp6_e2m3* a, __nv_fp6x4_e3m2* b, __nv_fp4x2_e2m1* c, float* out) {
  out[0] = float(a[0]) + float(__half(a[1])) + static_cast<float4>(b[0]).x + static_cast<float2>(c[0]).y;
  a[2] = __nv_fp6_e2m3(out[1]);
  c[1] = __nv_fp4x2_e2m1(make_float2(1, 2));
  out[2] = __half2float(__half(__nv_cvt_fp4_to_halfraw(3, __NV_E2M1)));
}
int main() {
  __nv_fp6_e3m2 host(2.0);
  k<<<1, 1>>>(nullptr, nullptr, nullptr, nullptr);
  return static_cast<int>(host) - 2;
}
