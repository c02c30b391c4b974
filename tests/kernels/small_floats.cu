// cuda_fp6.h and cuda_fp4.h: all numbers of each format, and conversions into them, on the host and on the device.
// Oracle: the formats' definitions (OCP "Microscaling Formats"), written out with ldexp; the number that a rounding
// mode asks for, found by searching all of them.

#include <cuda_fp4.h>
#include <cuda_fp6.h>

#include "check.h"

struct Shape {
  int exponent_bits, fraction_bits, bias;
  int most() const { return (1 << (exponent_bits + fraction_bits)) - 1; }
  double meaning(int code) const {
    const int exponent = code >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
    return std::ldexp(fraction + (exponent ? 1 << fraction_bits : 0), (exponent ? exponent : 1) - bias - fraction_bits);
  }
  int rounded(double x, cudaRoundMode mode) const {
    if (std::isnan(x)) return most();
    const bool negative = std::signbit(x);
    const double size = std::fabs(x);
    int below = 0;
    while (below < most() && meaning(below + 1) <= size) ++below;
    int code = below;
    if (below < most() && meaning(below) < size) {
      const double up = meaning(below + 1) - size, down = size - meaning(below);
      const bool outwards = mode == cudaRoundNearest ? up < down || (up == down && below % 2)
                                                     : mode == (negative ? cudaRoundMinInf : cudaRoundPosInf);
      code += outwards;
    }
    return code | (negative ? most() + 1 : 0);
  }
};
constexpr Shape kE2M3{2, 3, 1}, kE3M2{3, 2, 3}, kE2M1{2, 1, 1};

struct Codes {
  unsigned char e2m3, e3m2, e2m1;
};
__host__ __device__ static Codes codes(double x, cudaRoundMode mode) {
  return {__nv_cvt_double_to_fp6(x, __NV_E2M3, mode), __nv_cvt_double_to_fp6(x, __NV_E3M2, mode),
          __nv_cvt_double_to_fp4(x, __NV_E2M1, mode)};
}
__global__ void codes_kernel(const double* in, Codes* out, int count, cudaRoundMode mode) {
  for (int i = 0; i < count; ++i) out[i] = codes(in[i], mode);
}

CASE(conversions_round_as_asked) {
  std::vector<double> all = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-300, -1e-300, 0, -0.0};
  for (int i = 0; i <= 30 * 64; ++i)
    for (double x : {i / 64.0, i / 64.0 + 0x1p-40, i / 64.0 - 0x1p-40}) all.push_back(x), all.push_back(-x);
  const int count = static_cast<int>(all.size());
  check::Managed<double> in(all.size());
  check::Managed<Codes> out(all.size());
  for (int i = 0; i < count; ++i) in[i] = all[i];
  for (const auto mode : {cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf}) {
    codes_kernel<<<1, 1>>>(in, out, count, mode);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < count; ++i)
      for (const Codes& got : {out[i], codes(all[i], mode)}) {
        EXPECT_EQUAL_AT(i, got.e2m3, kE2M3.rounded(all[i], mode));
        EXPECT_EQUAL_AT(i, got.e3m2, kE3M2.rounded(all[i], mode));
        EXPECT_EQUAL_AT(i, got.e2m1, kE2M1.rounded(all[i], mode));
      }
  }
}

CASE(every_code_has_its_meaning) {
  for (int i = 0; i < 64; ++i) {
    const double sign = i & 32 ? -1 : 1;
    const auto code = static_cast<unsigned char>(i);
    EXPECT_EQUAL_AT(i, __half2float(__nv_cvt_fp6_to_halfraw(code, __NV_E2M3)), sign * kE2M3.meaning(i & 31));
    EXPECT_EQUAL_AT(i, __half2float(__nv_cvt_fp6_to_halfraw(code, __NV_E3M2)), sign * kE3M2.meaning(i & 31));
    if (i < 16)
      EXPECT_EQUAL_AT(i, __half2float(__nv_cvt_fp4_to_halfraw(code, __NV_E2M1)),
                      (i & 8 ? -1 : 1) * kE2M1.meaning(i & 7));
  }
}

CASE(types_hold_one_two_and_four) {
  static_assert(sizeof(__nv_fp6x2_e2m3) == 2 && sizeof(__nv_fp6x4_e3m2) == 4);
  static_assert(sizeof(__nv_fp4_e2m1) == 1 && sizeof(__nv_fp4x2_e2m1) == 1 && sizeof(__nv_fp4x4_e2m1) == 2);
  const __nv_fp4x4_e2m1 four(float4{0.5f, -1, 6, -100});
  EXPECT_EQUAL(four.__x, 0xf7a1);
  EXPECT_EQUAL(static_cast<float4>(four).w, -6.0f);
  const __nv_fp6x2_e3m2 two(float2{28, -0.0625f});
  EXPECT_EQUAL(two.__x, 0x211f);
  EXPECT_EQUAL(static_cast<float2>(two).x, 28.0f);
  EXPECT_EQUAL(static_cast<float>(__nv_fp6_e2m3(1000)), 7.5f);
  EXPECT_EQUAL(static_cast<int>(__nv_fp4_e2m1(-3.2)), -3);
  EXPECT_EQUAL(__half2float(static_cast<__half>(__nv_fp4_e2m1(1.5f))), 1.5f);
}

CHECK_MAIN()
