// The math library of device code. Oracle: glibc's long double functions on the host; bounds are the maximum ulp errors
// that the CUDA C++ Programming Guide's tables give ("Mathematical Functions").

#include "check.h"

#include <limits>

namespace {

constexpr int kCount = 4096;

template <typename T, typename Function>
void compare(const char* name, const T* in, const T* out, Function reference, double bound) {
  double worst = 0;
  T worst_at = 0;
  for (int i = 0; i < kCount; ++i) {
    double error = check::ulp_error(out[i], reference(static_cast<long double>(in[i])));
    check::record_near(name, out[i], check::Tolerance::Ulps, bound);
    if (!(error <= worst)) worst = error, worst_at = in[i];
  }
  if (!(worst <= bound + 0.5)) {  // CUDA's tables count from the rounded reference
    char text[160];
    std::snprintf(text, sizeof text, "%s: %.2f ulp at %.17g, at most %.0f allowed", name, worst,
                  static_cast<double>(worst_at), bound);
    check::fail(__FILE__, __LINE__, text);
  }
}

/// Points over [low, high], its ends and halves between integers among them, in a fixed pseudo-random order.
template <typename T>
void fill(check::Managed<T>& in, double low, double high) {
  unsigned state = 1;
  for (int i = 0; i < kCount; ++i) {
    state = state * 1664525u + 1013904223u;
    in[i] = static_cast<T>(std::fma(high - low, state / 4294967296.0, low));
  }
  for (int i = 2; i < 10; ++i) {
    const double half = std::floor((low + high) / 2) + 0.5 * (i - 5);
    if (half > low && half < high) in[i] = static_cast<T>(half);
  }
  in[0] = static_cast<T>(low);
  in[1] = static_cast<T>(high);
}

struct Special {
  static constexpr double values[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0};
};

}  // namespace

// One unary function in both precisions: device expression, host reference, domain, bounds for float and double.
#define UNARY(name, device, device_f, reference, low, high, bound_f, bound)                   \
  template <typename T>                                                                       \
  __global__ void kernel_##name(const T* in, T* out) {                                        \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
    if constexpr (sizeof(T) == 4) {                                                           \
      float x = in[i];                                                                        \
      out[i] = device_f;                                                                      \
    } else {                                                                                  \
      double x = in[i];                                                                       \
      out[i] = device;                                                                        \
    }                                                                                         \
  }                                                                                           \
  template <typename T>                                                                       \
  void run_##name(double most) {                                                              \
    check::Managed<T> in(kCount), out(kCount);                                                \
    fill(in, low, high);                                                                      \
    for (int i = 0; i < 7; ++i) in[10 + i] = static_cast<T>(Special::values[i]);              \
    kernel_##name<T><<<kCount / 256, 256>>>(in, out);                                         \
    CUDA_OK(cudaDeviceSynchronize());                                                         \
    compare<T>(#name, in, out, [](long double x) -> long double { return reference; }, most); \
  }                                                                                           \
  CASE(name) {                                                                                \
    run_##name<float>(bound_f);                                                               \
    run_##name<double>(bound);                                                                \
  }

constexpr long double kPi = 3.14159265358979323846264338327950288L;

long double sine_of_half_turns(long double x) {
  return std::isinf(x) ? NAN : x == roundl(x) ? copysignl(0, x) : sinl(kPi * x);
}
long double cosine_of_half_turns(long double x) {
  return std::isinf(x) ? NAN : cosl(kPi * x);
}

// Functions with two results, one of them each.
#define TWO_RESULTS(name, function, Float, which) \
  __device__ Float name(Float x) {                \
    Float results[2];                             \
    function(x, &results[0], &results[1]);        \
    return results[which];                        \
  }
TWO_RESULTS(sine_together, sincos, double, 0)
TWO_RESULTS(sine_together, sincosf, float, 0)
TWO_RESULTS(cosine_together, sincos, double, 1)
TWO_RESULTS(cosine_together, sincosf, float, 1)
TWO_RESULTS(sinpi_together, sincospi, double, 0)
TWO_RESULTS(sinpi_together, sincospif, float, 0)
TWO_RESULTS(cospi_together, sincospi, double, 1)
TWO_RESULTS(cospi_together, sincospif, float, 1)
#define PARTS(function, Float)            \
  __device__ Float fraction_of(Float x) { \
    Float whole;                          \
    return function(x, &whole);           \
  }                                       \
  __device__ Float whole_of(Float x) {    \
    Float whole;                          \
    function(x, &whole);                  \
    return whole;                         \
  }
PARTS(modf, double)
PARTS(modff, float)

UNARY(sin, sin(x), sinf(x), sinl(x), -100, 100, 2, 2)
UNARY(cos, cos(x), cosf(x), cosl(x), -100, 100, 2, 2)
UNARY(tan, tan(x), tanf(x), tanl(x), -1.5, 1.5, 4, 2)
UNARY(asin, asin(x), asinf(x), asinl(x), -1, 1, 2, 2)
UNARY(acos, acos(x), acosf(x), acosl(x), -1, 1, 2, 2)
UNARY(atan, atan(x), atanf(x), atanl(x), -50, 50, 2, 2)
UNARY(sinh, sinh(x), sinhf(x), sinhl(x), -20, 20, 3, 2)
UNARY(cosh, cosh(x), coshf(x), coshl(x), -20, 20, 2, 1)
UNARY(tanh, tanh(x), tanhf(x), tanhl(x), -5, 5, 2, 2)
UNARY(asinh, asinh(x), asinhf(x), asinhl(x), -1000, 1000, 3, 3)
UNARY(acosh, acosh(x), acoshf(x), acoshl(x), 1, 1000, 4, 3)
UNARY(atanh, atanh(x), atanhf(x), atanhl(x), -0.99, 0.99, 3, 2)
UNARY(exp, exp(x), expf(x), expl(x), -80, 80, 2, 1)
UNARY(exp2, exp2(x), exp2f(x), exp2l(x), -120, 120, 2, 1)
UNARY(exp10, exp10(x), exp10f(x), powl(10.0L, x), -30, 30, 2, 1)
UNARY(expm1, expm1(x), expm1f(x), expm1l(x), -5, 5, 1, 1)
UNARY(log, log(x), logf(x), logl(x), 1e-6, 1e6, 1, 1)
UNARY(log2, log2(x), log2f(x), log2l(x), 1e-6, 1e6, 1, 1)
UNARY(log10, log10(x), log10f(x), log10l(x), 1e-6, 1e6, 2, 1)
UNARY(log1p, log1p(x), log1pf(x), log1pl(x), -0.9, 100, 1, 1)
UNARY(sqrt, sqrt(x), sqrtf(x), sqrtl(x), 0, 1e10, 0, 0)
UNARY(rsqrt, rsqrt(x), rsqrtf(x), 1 / sqrtl(x), 1e-10, 1e10, 2, 1)
UNARY(cbrt, cbrt(x), cbrtf(x), cbrtl(x), -1e6, 1e6, 1, 1)
UNARY(rcbrt, rcbrt(x), rcbrtf(x), 1 / cbrtl(x), 1e-3, 1e6, 1, 1)
UNARY(erf, erf(x), erff(x), erfl(x), -4, 4, 2, 2)
UNARY(erfc, erfc(x), erfcf(x), erfcl(x), -4, 9, 4, 5)
UNARY(erfcx, erfcx(x), erfcxf(x), std::isinf(x) && x > 0 ? 0 : expl(x * x) * erfcl(x), -2, 10, 4, 4)
UNARY(tgamma, tgamma(x), tgammaf(x), tgammal(x), 0.1, 30, 5, 10)
UNARY(lgamma, lgamma(x), lgammaf(x), lgammal(x), 3, 100, 6, 4)
UNARY(sinpi, sinpi(x), sinpif(x), sine_of_half_turns(x), 0.1, 0.9, 1, 2)
UNARY(cospi, cospi(x), cospif(x), cosine_of_half_turns(x), 0.6, 1.4, 1, 2)
UNARY(normcdf, normcdf(x), normcdff(x), 0.5L * erfcl(-x / sqrtl(2.0L)), -5, 5, 5, 5)
UNARY(floor, floor(x), floorf(x), floorl(x), -1000, 1000, 0, 0)
UNARY(ceil, ceil(x), ceilf(x), ceill(x), -1000, 1000, 0, 0)
UNARY(trunc, trunc(x), truncf(x), truncl(x), -1000, 1000, 0, 0)
UNARY(round, round(x), roundf(x), roundl(x), -1000, 1000, 0, 0)
UNARY(rint, rint(x), rintf(x), rintl(x), -1000, 1000, 0, 0)
UNARY(fabs, fabs(x), fabsf(x), fabsl(x), -1000, 1000, 0, 0)
UNARY(j0, j0(x), j0f(x), j0l(x), 0, 7, 9, 7)
UNARY(j1, j1(x), j1f(x), j1l(x), 0, 7, 9, 7)
UNARY(y0, y0(x), y0f(x), y0l(x), 1, 7, 9, 7)
UNARY(y1, y1(x), y1f(x), y1l(x), 1, 7, 9, 7)
UNARY(sincos_sine, sine_together(x), sine_together(x), sinl(x), -100, 100, 2, 2)
UNARY(sincos_cosine, cosine_together(x), cosine_together(x), cosl(x), -100, 100, 2, 2)
UNARY(sincospi_sine, sinpi_together(x), sinpi_together(x), sine_of_half_turns(x), 0.1, 0.9, 1, 2)
UNARY(sincospi_cosine, cospi_together(x), cospi_together(x), cosine_of_half_turns(x), 0.6, 1.4, 1, 2)
UNARY(modf_fraction, fraction_of(x), fraction_of(x), std::isinf(x) ? 0 : x - truncl(x), -1000, 1000, 0, 0)
UNARY(modf_whole, whole_of(x), whole_of(x), truncl(x), -1000, 1000, 0, 0)
UNARY(logb, logb(x), logbf(x), logbl(x), -1e6, 1e6, 0, 0)
UNARY(nearbyint, nearbyint(x), nearbyintf(x), nearbyintl(x), -1000, 1000, 0, 0)

template <typename T>
__global__ void binary_kernel(const T* a, const T* b, T* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * 6] = pow(a[i], b[i]);
  out[i * 6 + 1] = atan2(a[i], b[i]);
  out[i * 6 + 2] = fmod(a[i] * 100, b[i]);
  out[i * 6 + 3] = hypot(a[i], b[i]);
  out[i * 6 + 4] = fmax(a[i], b[i]) - fmin(a[i], b[i]);
  out[i * 6 + 5] = copysign(a[i], b[i]) + fdim(a[i], b[i]);
}

template <typename T>
void binary_case() {
  check::Managed<T> a(kCount), b(kCount), out(kCount * 6);
  fill(a, 0.01, 20);
  fill(b, -6, 6);
  for (int i = 0; i < kCount; ++i)
    if (i % 2) b[i] = b[(i * 7 + 3) % kCount];
  binary_kernel<T><<<kCount / 256, 256>>>(a, b, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) {
    long double x = a[i], y = b[i];
    EXPECT_ULPS_AT(i, out[i * 6], powl(x, y), (sizeof(T) == 4 ? 4 : 2));
    EXPECT_ULPS_AT(i, out[i * 6 + 1], atan2l(x, y), (sizeof(T) == 4 ? 3 : 2));
    EXPECT_EQUAL_AT(i, out[i * 6 + 2], static_cast<T>(std::fmod(a[i] * 100, b[i])));
    EXPECT_ULPS_AT(i, out[i * 6 + 3], hypotl(x, y), (sizeof(T) == 4 ? 3 : 2));
    EXPECT_EQUAL_AT(i, out[i * 6 + 4], std::fmax(a[i], b[i]) - std::fmin(a[i], b[i]));
    EXPECT_EQUAL_AT(i, out[i * 6 + 5], std::copysign(a[i], b[i]) + std::fdim(a[i], b[i]));
  }
}

CASE(two_arguments) {
  binary_case<float>();
  binary_case<double>();
}

struct Integers {
  long nearest, away;
  long long wide_nearest, wide_away;
};

template <typename T>
__global__ void to_integers_kernel(const T* in, Integers* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = {lrint(in[i]), lround(in[i]), llrint(in[i]), llround(in[i])};
}

template <typename T>
void to_integers_case() {
  check::Managed<T> in(kCount);
  check::Managed<Integers> out(kCount);
  fill(in, -1e6, 1e6);
  for (int i = 0; i < 1024; ++i) in[i] = static_cast<T>(i - 512) / 4;  // ties among them
  in[1024] = std::nextafter(static_cast<T>(0.5), static_cast<T>(0)), in[1025] = -in[1024];
  in[1026] = static_cast<T>(0x1p40), in[1027] = static_cast<T>(-0x1p62);
  to_integers_kernel<<<kCount / 256, 256>>>(static_cast<const T*>(in), static_cast<Integers*>(out));
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQUAL_AT(i, out[i].nearest, std::lrint(in[i]));
    EXPECT_EQUAL_AT(i, out[i].away, std::lround(in[i]));
    EXPECT_EQUAL_AT(i, out[i].wide_nearest, std::llrint(in[i]));
    EXPECT_EQUAL_AT(i, out[i].wide_away, std::llround(in[i]));
  }
}

CASE(rounding_to_integers) {
  to_integers_case<float>();
  to_integers_case<double>();
}

template <typename T>
__global__ void scaling_kernel(const T* x, const T* y, const long* n, T* scaled, T* rest, int* quotient) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  scaled[i] = scalbln(x[i], n[i]);
  rest[i] = remquo(x[i], y[i], &quotient[i]);
}

template <typename T>
void scaling_case() {
  check::Managed<T> x(kCount), y(kCount), scaled(kCount), rest(kCount);
  check::Managed<long> n(kCount);
  check::Managed<int> quotient(kCount);
  fill(x, -1000, 1000);
  for (int i = 0; i < kCount; ++i) {
    const T other = x[(i * 7 + 3) % kCount];
    y[i] = other != 0 ? other / 64 : 1;
    n[i] = i - kCount / 2;
  }
  n[0] = 1L << 40, n[1] = -(1L << 40);  // not an int
  scaling_kernel<T><<<kCount / 256, 256>>>(x, y, n, scaled, rest, quotient);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQUAL_AT(i, scaled[i], std::scalbln(x[i], n[i]));
    int expected = 0;
    EXPECT_EQUAL_AT(i, rest[i], std::remquo(x[i], y[i], &expected));
    EXPECT_EQUAL_AT(i, std::abs(quotient[i]) & 7, std::abs(expected) & 7);  // as many bits as the guide promises
    if (expected & 7) EXPECT_EQUAL_AT(i, quotient[i] < 0, expected < 0);
  }
}

CASE(scaling_and_remainders) {
  scaling_case<float>();
  scaling_case<double>();
}

constexpr int kMostDimensions = 8;

__device__ float norm_of(int count, const float* x) {
  return normf(count, x);
}
__device__ double norm_of(int count, const double* x) {
  return norm(count, x);
}
__device__ float inverse_norm_of(int count, const float* x) {
  return rnormf(count, x);
}
__device__ double inverse_norm_of(int count, const double* x) {
  return rnorm(count, x);
}
__device__ float norm_of_four(const float* x) {
  return norm4df(x[0], x[1], x[2], x[3]);
}
__device__ double norm_of_four(const double* x) {
  return norm4d(x[0], x[1], x[2], x[3]);
}

template <typename T>
__global__ void norm_kernel(const T* x, T* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, count = i % kMostDimensions + 1;
  const T* mine = x + (i & ~(kMostDimensions - 1));
  out[i * 3] = norm_of(count, mine);
  out[i * 3 + 1] = inverse_norm_of(count, mine);
  out[i * 3 + 2] = norm_of_four(mine);
}

/// The bounds are those of norm4d; the guide has none for any number of dimensions.
template <typename T>
void norm_case() {
  constexpr int kBound = sizeof(T) == 4 ? 3 : 2;
  check::Managed<T> x(kCount), out(kCount * 3);
  fill(x, -100, 100);
  for (int i = 0; i < kMostDimensions; ++i) x[i] *= std::numeric_limits<T>::max() / 1000;  // squares overflow
  for (int i = kMostDimensions; i < 2 * kMostDimensions; ++i) x[i] *= std::numeric_limits<T>::min();
  norm_kernel<T><<<kCount / 256, 256>>>(x, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) {
    long double sum = 0, first_four = 0;
    for (int d = 0; d <= i % kMostDimensions; ++d) {
      const long double value = x[(i & ~(kMostDimensions - 1)) + d];
      sum += value * value;
    }
    for (int d = 0; d < 4; ++d) {
      const long double value = x[(i & ~(kMostDimensions - 1)) + d];
      first_four += value * value;
    }
    EXPECT_ULPS_AT(i, out[i * 3], sqrtl(sum), kBound);
    EXPECT_ULPS_AT(i, out[i * 3 + 1], 1 / sqrtl(sum), kBound);
    EXPECT_ULPS_AT(i, out[i * 3 + 2], sqrtl(first_four), kBound);
  }
}

CASE(norms) {
  norm_case<float>();
  norm_case<double>();
}

template <typename T>
__global__ void bessel_kernel(const int* n, const T* x, T* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * 2] = jn(n[i], x[i]);
  out[i * 2 + 1] = yn(n[i], fabs(x[i]));
}

/// The guide's bounds: absolute ones, and ceil(2 + 2.5 n) ulp of ynf below n. It has none for yn there: the same.
template <typename T>
void bessel_case() {
  const int orders[] = {0, 1, 2, 3, 5, 10, 128};
  const double bound = sizeof(T) == 4 ? 2.2e-6 : 1.2e-12;
  check::Managed<int> n(kCount);
  check::Managed<T> x(kCount), out(kCount * 2);
  fill(x, -200, 200);
  for (int i = 0; i < kCount; ++i) {
    n[i] = orders[i % 7];
    if (i % 2) x[i] /= 20;
  }
  bessel_kernel<T><<<kCount / 256, 256>>>(n, x, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) {
    const long double at = std::fabs(x[i]), j = jnl(n[i], x[i]), y = ynl(n[i], at);
    EXPECT_AROUND_AT(i, out[i * 2], j, bound);
    const check::Unrecorded because("CUDA's are beyond the bound that it documents");
    if (at < n[i])
      EXPECT_ULPS_AT(i, out[i * 2 + 1], y, std::ceil(2 + 2.5 * n[i]));
    else
      EXPECT_AROUND_AT(i, out[i * 2 + 1], y, bound);
  }
}

CASE(bessel_functions_of_any_order) {
  bessel_case<float>();
  bessel_case<double>();
}

__global__ void fast_kernel(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  out[i * 6] = __sinf(x);
  out[i * 6 + 1] = __cosf(x);
  out[i * 6 + 2] = __expf(x);
  out[i * 6 + 3] = __logf(x + 4);
  out[i * 6 + 4] = __fdividef(x, 3.0f);
  out[i * 6 + 5] = __powf(x + 4, 1.5f);
}

// Absolute or relative bounds as the guide's table of intrinsic functions gives them.
CASE(fast_intrinsics) {
  check::Managed<float> in(kCount), out(kCount * 6);
  fill(in, -3.14, 3.14);
  fast_kernel<<<kCount / 256, 256>>>(in, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) {
    double x = in[i];
    EXPECT_AROUND_AT(i, out[i * 6], std::sin(x), 0x1p-21);
    EXPECT_AROUND_AT(i, out[i * 6 + 1], std::cos(x), 0x1p-21);
    EXPECT_ULPS_AT(i, out[i * 6 + 2], std::exp(x), 2 + std::floor(std::fabs(1.173 * x)));
    EXPECT_AROUND_AT(i, out[i * 6 + 3], std::log(x + 4), 0x1p-20);
    EXPECT_ULPS_AT(i, out[i * 6 + 4], x / 3, 2);
    const double power = std::pow(static_cast<float>(x + 4), 1.5);
    EXPECT_AROUND_AT(i, out[i * 6 + 5], power, 1e-5 * power);
  }
}

__global__ void rounded_kernel(float a, float b, float* out, double c, double d, double* out_d) {
  out[0] = __fadd_rz(a, b), out[1] = __fadd_ru(a, b), out[2] = __fadd_rd(a, b), out[3] = __fadd_rn(a, b);
  out[4] = __fmul_rz(a, b), out[5] = __fmul_ru(a, b), out[6] = __fmul_rd(a, b), out[7] = __fmul_rn(a, b);
  out[8] = __fdiv_rz(a, b), out[9] = __fdiv_ru(a, b), out[10] = __fdiv_rd(a, b), out[11] = __fdiv_rn(a, b);
  out_d[0] = __dadd_rz(c, d), out_d[1] = __dadd_ru(c, d), out_d[2] = __dadd_rd(c, d);
  out_d[3] = __dmul_rz(c, d), out_d[4] = __dmul_ru(c, d), out_d[5] = __dmul_rd(c, d);
}

/// `exact` rounded towards zero, up and down to T; long double holds sums and products of these operands exactly
/// enough.
template <typename T>
T rounded(long double exact, char mode) {
  T nearest = static_cast<T>(exact);
  long double back = nearest;
  bool up = mode == 'u' || (mode == 'z' && exact < 0);
  if (up && back < exact) return std::nextafter(nearest, static_cast<T>(INFINITY));
  if (!up && back > exact) return std::nextafter(nearest, static_cast<T>(-INFINITY));
  return nearest;
}

CASE(directed_rounding) {
  const float pairs[][2] = {{1.0f, 0x1p-30f}, {-1.0f, -0x1p-30f}, {1.1f, 2.3f},
                            {-1.1f, 2.3f},    {0.1f, 0.7f},       {3.0f, -7.0f}};
  check::Managed<float> out(12);
  check::Managed<double> out_d(6);
  for (auto [a, b] : pairs) {
    double c = a + 0x1p-20, d = b / 1024;
    rounded_kernel<<<1, 1>>>(a, b, out, c, d, out_d);
    CUDA_OK(cudaDeviceSynchronize());
    long double x = a, y = b;
    const char modes[] = {'z', 'u', 'd'};
    for (int m = 0; m < 3; ++m) {
      EXPECT_EQUAL_AT(m, out[m], rounded<float>(x + y, modes[m]));
      EXPECT_EQUAL_AT(m, out[4 + m], rounded<float>(x * y, modes[m]));
      EXPECT_EQUAL_AT(m, out[8 + m], rounded<float>(x / y, modes[m]));
      EXPECT_EQUAL_AT(m, out_d[m], rounded<double>(static_cast<long double>(c) + d, modes[m]));
    }
    EXPECT_EQUAL(out[3], a + b);
    EXPECT_EQUAL(out[7], a * b);
    EXPECT_EQUAL(out[11], a / b);
  }
}

CHECK_MAIN()
