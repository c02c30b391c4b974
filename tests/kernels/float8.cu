// cuda_fp8.h: all numbers of each format, and conversions into them, on the host and on the device.
// Oracle: the formats' definitions (OCP "8-bit Floating Point Specification", "Microscaling Formats"), written out with
// ldexp; the nearest number, even on ties, found by searching all of them.

#include <cuda_fp8.h>

#include "check.h"

/// What a byte means.
static double meaning(int byte, __nv_fp8_interpretation_t format) {
  const bool e5m2 = format == __NV_E5M2;
  const int fraction_bits = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
  const int exponent = (byte & 0x7f) >> fraction_bits, fraction = byte & ((1 << fraction_bits) - 1);
  const double sign = byte & 0x80 ? -1 : 1;
  if (e5m2 && exponent == 31) return fraction ? NAN : sign * INFINITY;
  if (!e5m2 && (byte & 0x7f) == 0x7f) return NAN;
  const double significand = fraction + (exponent ? 1 << fraction_bits : 0);
  return sign * std::ldexp(significand, (exponent ? exponent : 1) - bias - fraction_bits);
}

/// The byte that a number rounds to.
static int nearest(double x, __nv_fp8_interpretation_t format, bool saturate) {
  if (std::isnan(x)) return 0x7f;
  const int most = format == __NV_E5M2 ? 0x7b : 0x7e, sign = std::signbit(x) ? 0x80 : 0;
  const double size = std::fabs(x);
  // Beyond the largest number plus half a step, which would round to even: past it.
  const double step = meaning(most, format) - meaning(most - 1, format), limit = meaning(most, format) + step / 2;
  if (size > limit || (size == limit && most % 2)) return sign | (saturate ? most : most + 1);
  int best = 0;
  for (int i = 1; i <= most; ++i) {
    const double before = std::fabs(meaning(best, format) - size), now = std::fabs(meaning(i, format) - size);
    if (now < before || (now == before && i % 2 == 0)) best = i;
  }
  return sign | best;
}

static std::vector<double> samples() {
  std::vector<double> all = {0, -0.0, INFINITY, -INFINITY, NAN, 1e300, -1e300, 1e-300, 464, 465, 61439, 61440, 61441};
  for (const auto format : {__NV_E4M3, __NV_E5M2})
    for (int i = 0; i < 0x7e; ++i) {
      const double a = meaning(i, format), b = meaning(i + 1, format), middle = (a + b) / 2;
      if (!std::isfinite(middle)) continue;
      for (double x :
           {a, middle, middle * (1 + 0x1p-20), middle * (1 - 0x1p-20), middle * (1 + 0x1p-50), middle * (1 - 0x1p-50)})
        all.push_back(x), all.push_back(-x);
    }
  return all;
}

struct Converted {
  unsigned char from_double, from_float, from_half, from_bfloat;
};
__host__ __device__ static Converted converted(double x, __nv_fp8_interpretation_t format, __nv_saturation_t saturate) {
  return {__nv_cvt_double_to_fp8(x, saturate, format), __nv_cvt_float_to_fp8(static_cast<float>(x), saturate, format),
          __nv_cvt_halfraw_to_fp8(static_cast<__half_raw>(__float2half(static_cast<float>(x))), saturate, format),
          __nv_cvt_bfloat16raw_to_fp8(static_cast<__nv_bfloat16_raw>(__float2bfloat16(static_cast<float>(x))), saturate,
                                      format)};
}
__global__ void converted_kernel(const double* in, Converted* out, int count, __nv_fp8_interpretation_t format,
                                 __nv_saturation_t saturate) {
  for (int i = 0; i < count; ++i) out[i] = converted(in[i], format, saturate);
}

CASE(conversions_round_to_nearest_even) {
  const std::vector<double> all = samples();
  const int count = static_cast<int>(all.size());
  check::Managed<double> in(all.size());
  check::Managed<Converted> out(all.size());
  for (int i = 0; i < count; ++i) in[i] = all[i];
  for (const auto format : {__NV_E4M3, __NV_E5M2})
    for (const auto saturate : {__NV_NOSAT, __NV_SATFINITE}) {
      converted_kernel<<<1, 1>>>(in, out, count, format, saturate);
      CUDA_OK(cudaDeviceSynchronize());
      const bool saturates = saturate == __NV_SATFINITE;
      for (int i = 0; i < count; ++i) {
        const float f = static_cast<float>(all[i]);
        const double h = __half2float(__float2half(f)), b = __bfloat162float(__float2bfloat16(f));
        const Converted expected = {static_cast<unsigned char>(nearest(all[i], format, saturates)),
                                    static_cast<unsigned char>(nearest(f, format, saturates)),
                                    static_cast<unsigned char>(nearest(h, format, saturates)),
                                    static_cast<unsigned char>(nearest(b, format, saturates))};
        for (const Converted& got : {out[i], converted(all[i], format, saturate)}) {
          if (std::isnan(all[i])) {
            const check::Unrecorded because("CUDA makes the largest number of it");
            EXPECT_EQUAL_AT(i, got.from_double, expected.from_double);
          } else {
            EXPECT_EQUAL_AT(i, got.from_double, expected.from_double);
          }
          EXPECT_EQUAL_AT(i, got.from_float, expected.from_float);
          EXPECT_EQUAL_AT(i, got.from_half, expected.from_half);
          EXPECT_EQUAL_AT(i, got.from_bfloat, expected.from_bfloat);
        }
      }
    }
}

__global__ void decoded_kernel(float* e4m3, float* e5m2, float* e8m0) {
  __nv_fp8_e4m3 a;
  __nv_fp8_e5m2 b;
  __nv_fp8_e8m0 c;
  a.__x = b.__x = c.__x = static_cast<unsigned char>(threadIdx.x);
  e4m3[threadIdx.x] = static_cast<float>(a);
  e5m2[threadIdx.x] = static_cast<float>(b);
  e8m0[threadIdx.x] = static_cast<float>(c);
}

CASE(every_byte_has_its_meaning) {
  check::Managed<float> e4m3(256), e5m2(256), e8m0(256);
  decoded_kernel<<<1, 256>>>(e4m3, e5m2, e8m0);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) {
    EXPECT_SAME_AT(i, e4m3[i], meaning(i, __NV_E4M3));
    EXPECT_SAME_AT(i, e5m2[i], meaning(i, __NV_E5M2));
    EXPECT_SAME_AT(i, e8m0[i], i == 255 ? NAN : std::ldexp(1.0, i - 127));
    const auto byte = static_cast<unsigned char>(i);
    EXPECT_SAME_AT(i, __half2float(__nv_cvt_fp8_to_halfraw(byte, __NV_E4M3)), meaning(i, __NV_E4M3));
    EXPECT_SAME_AT(i, __half2float(__nv_cvt_fp8_to_halfraw(byte, __NV_E5M2)), meaning(i, __NV_E5M2));
    EXPECT_SAME_AT(i, __bfloat162float(__nv_cvt_e8m0_to_bf16raw(byte)), i == 255 ? NAN : std::ldexp(1.0, i - 127));
  }
}

CASE(powers_of_two) {
  struct Row {
    double x;
    int down, up;
  };
  const Row rows[] = {{1, 127, 127},
                      {1.5, 127, 128},
                      {2, 128, 128},
                      {0.75, 126, 127},
                      {0, 0, 0},
                      {std::ldexp(1.0, -127), 0, 0},
                      {std::ldexp(1.25, -127), 0, 1},
                      {std::ldexp(1.0, -126), 1, 1},
                      {std::ldexp(1.0, -140), 0, 0},
                      {std::ldexp(1.0, 127), 254, 254},
                      {std::ldexp(1.0, -200), 0, 0},
                      {1 + 0x1p-40, 127, 128}};
  for (const Row& row : rows) {
    EXPECT_EQUAL(__nv_cvt_double_to_e8m0(row.x, __NV_SATFINITE, cudaRoundZero), row.down);
    EXPECT_EQUAL(__nv_cvt_double_to_e8m0(row.x, __NV_SATFINITE, cudaRoundPosInf), row.up);
  }
  for (double x : {std::ldexp(1.5, 127), 1e300, static_cast<double>(INFINITY)}) {
    EXPECT_EQUAL(__nv_cvt_double_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf), 254);
    EXPECT_EQUAL(__nv_cvt_double_to_e8m0(x, __NV_NOSAT, cudaRoundPosInf), 255);
  }
  EXPECT_EQUAL(__nv_cvt_float_to_e8m0(NAN, __NV_SATFINITE, cudaRoundZero), 255);
}

CASE(types_hold_one_two_and_four) {
  static_assert(sizeof(__nv_fp8_e4m3) == 1 && sizeof(__nv_fp8x2_e5m2) == 2 && sizeof(__nv_fp8x4_e4m3) == 4);
  static_assert(alignof(__nv_fp8x2_e4m3) == 2 && alignof(__nv_fp8x4_e5m2) == 4);
  const __nv_fp8x2_e4m3 two(float2{1.5f, -448});
  EXPECT_EQUAL(two.__x, 0x3c | 0xfe << 8);
  EXPECT_EQUAL(static_cast<float2>(two).y, -448.0f);
  EXPECT_EQUAL(__half2float(static_cast<__half2>(two).x), 1.5f);
  const __nv_fp8x4_e5m2 four(float4{1, 2, 1e9f, -0.5f});
  EXPECT_EQUAL(four.__x, 0xb87b403cu);
  EXPECT_EQUAL(static_cast<float4>(four).z, 57344.0f);
  EXPECT_EQUAL(static_cast<float4>(__nv_fp8x4_e4m3(__half2(__half(1), __half(2)), __half2(__half(3), __half(4)))).w,
               4.0f);
  EXPECT_EQUAL(static_cast<int>(__nv_fp8_e4m3(-7.5f)), -7);
  EXPECT_EQUAL(static_cast<int>(static_cast<unsigned char>(__nv_fp8_e5m2(1000.0))), 255);
  EXPECT_EQUAL(static_cast<float>(__nv_fp8_e4m3(1000)), 448.0f);
  EXPECT_EQUAL(static_cast<float>(__nv_fp8_e5m2(-12345678901234ll)), -57344.0f);
  EXPECT_EQUAL(static_cast<float>(__nv_fp8_e8m0(3.0f)), 4.0f);
  EXPECT(!static_cast<bool>(__nv_fp8_e4m3(0.0f)) && static_cast<bool>(__nv_fp8_e5m2(1.0f)));
}

CHECK_MAIN()
