// 8-bit floating point.
#include <cuda_fp8.h>
__global__ void k(__nv_fp8_e4m3* a, __nv_fp8x4_e5m2* b, __nv_fp8x2_e8m0* c, float* out) {
  out[0] = float(a[0]) + float(__half(a[1])) + static_cast<float4>(b[0]).x + static_cast<float2>(c[0]).y;
  a[2] = __nv_fp8_e4m3(out[1]);
  b[1] = __nv_fp8x4_e5m2(make_float4(1, 2, 3, 4));
  __nv_fp8_storage_t s = __nv_cvt_float_to_fp8(out[2], __NV_SATFINITE, __NV_E5M2);
  out[3] = __half2float(__half(__nv_cvt_fp8_to_halfraw(s, __NV_E5M2)));
}
int main() {
  __nv_fp8_e5m2 host(2.0);
  k<<<1, 1>>>(nullptr, nullptr, nullptr, nullptr);
  return static_cast<int>(host) - 2;
}
