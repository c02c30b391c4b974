// Standard and CUDA headers in an awkward order, and <cmath> in device and host code, qualified or not.
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <math.h>
#include <math_constants.h>
#include <algorithm>
#include <cmath>
#include <complex>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

template <typename T>
__host__ __device__ bool sound(T x) {
  using std::isnan;
  return isfinite(x) && !isnan(x) && !isinf(x) && !signbit(x) && std::isfinite(x);
}

__global__ void functions(float* f, double* d, int* i) {
  f[0] = sin(f[0]) + sinf(f[0]) + std::sin(f[0]) + std::pow(f[0], 2) + pow(f[0], 2.0f) + std::abs(f[0]) + abs(f[0]);
  d[0] =
      sin(d[0]) + std::exp(d[0]) + fma(d[0], 2.0, 1.0) + pow(d[0], 2) + sqrt(i[0]) + std::max(d[0], 2.0) + erfinv(d[0]);
  f[1] = min(f[0], f[1]) + max(f[0], 1.0f) + rsqrt(f[0]) + rsqrtf(f[1]) + cospi(f[0]) + normcdf(f[0]) + exp10(f[0]);
  d[1] =
      min(f[0], d[1]) + rsqrt(d[0]) + hypot(d[0], d[1]) + norm3d(d[0], d[1], 1.0) + cyl_bessel_i0(d[0]) + tgamma(d[0]);
  i[0] =
      min(i[0], 3) + max(3u, blockIdx.x) + min(3ll, 4ll) + abs(i[0]) + std::min(i[0], i[1]) + (int)min(threadIdx.x, 7);
  i[1] = sound(f[0]) + sound(d[0]) + (int)round(f[0]) + (int)lroundf(f[0]) + __popc(i[0]) + __float2int_rn(f[0]);
  sincosf(f[0], &f[2], &f[3]);
  sincos(d[0], &d[2], &d[3]);
  f[4] = __expf(f[0]) + __powf(f[0], f[1]) + __fdividef(f[0], f[1]) + __frcp_rn(f[0]) + __saturatef(f[0]) + CUDART_PI_F;
  f[5] =
      __fadd_rz(f[0], f[1]) + __fmaf_ru(f[0], f[1], f[2]) + __int_as_float(i[0]) + __ull2float_rd(3) + frexpf(f[0], i);
  d[4] = __dsqrt_ru(d[0]) + __ddiv_rd(d[0], d[1]) + __hiloint2double(i[0], i[1]) + __longlong_as_double(5);
}

int main() {
  std::vector<float> v(3, min(1.0f, 2.0f));
  std::complex<float> z(1, 2);
  const int n = max(3, (int)v.size()) + (int)min(3u, 4u) + (int)max(3.0, 4.0);
  functions<<<dim3(1), n>>>(nullptr, nullptr, nullptr);
  std::cout << std::string("x") << std::abs(z) << sound(1.0f) << isnan(2.0) << rsqrtf(4.0f)
            << std::numeric_limits<int>::max();
}
