// What C++ leaves undefined and the GPU defines: wide shifts, division by zero, INT_MIN / -1, conversions of what does
// not fit, wrapping. Oracle: the PTX ISA ("shl clamps shift amounts", "cvt saturates", "div by zero") and values
// measured on a real GPU, given as constants.

#include <climits>

#include "check.h"

__global__ void shift_kernel(const unsigned* amounts, unsigned* out, int n) {
  for (int i = 0; i < n; ++i) {
    out[i * 3] = 0x80000001u << amounts[i];
    out[i * 3 + 1] = 0x80000001u >> amounts[i];
    out[i * 3 + 2] = static_cast<unsigned>(static_cast<int>(0x80000001u) >> amounts[i]);
  }
}

__global__ void wide_shift_kernel(const unsigned* amounts, unsigned long long* out, int n) {
  for (int i = 0; i < n; ++i) {
    out[i * 3] = 0x8000000000000001ull << amounts[i];
    out[i * 3 + 1] = 0x8000000000000001ull >> amounts[i];
    out[i * 3 + 2] = static_cast<unsigned long long>(static_cast<long long>(0x8000000000000001ull) >> amounts[i]);
  }
}

CASE(shifts_beyond_the_width_clamp) {
  const unsigned samples[] = {0, 1, 31, 32, 33, 63, 64, 65, 255, 0xffffffffu};
  const int n = sizeof samples / sizeof *samples;
  check::Managed<unsigned> amounts(n), out(n * 3);
  check::Managed<unsigned long long> wide(n * 3);
  for (int i = 0; i < n; ++i) amounts[i] = samples[i];
  shift_kernel<<<1, 1>>>(amounts, out, n);
  wide_shift_kernel<<<1, 1>>>(amounts, wide, n);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    unsigned s = samples[i];
    EXPECT_EQUAL_AT(i, out[i * 3], s < 32 ? 0x80000001u << s : 0);
    EXPECT_EQUAL_AT(i, out[i * 3 + 1], s < 32 ? 0x80000001u >> s : 0);
    EXPECT_EQUAL_AT(i, out[i * 3 + 2], s < 32 ? static_cast<unsigned>(static_cast<int>(0x80000001u) >> s) : ~0u);
    EXPECT_EQUAL_AT(i, wide[i * 3], s < 64 ? 0x8000000000000001ull << s : 0);
    EXPECT_EQUAL_AT(i, wide[i * 3 + 1], s < 64 ? 0x8000000000000001ull >> s : 0);
    EXPECT_EQUAL_AT(
        i, wide[i * 3 + 2],
        s < 64 ? static_cast<unsigned long long>(static_cast<long long>(0x8000000000000001ull) >> s) : ~0ull);
  }
}

__global__ void divide_kernel(const int* a, const int* b, int* quotient, int* remainder) {
  int i = threadIdx.x;
  quotient[i] = a[i] / b[i];
  remainder[i] = a[i] % b[i];
}

CASE(division_never_traps) {
  const int as[] = {7, -7, 0, INT_MIN, INT_MIN, 100, INT_MAX, INT_MIN};
  const int bs[] = {2, 2, 5, -1, 1, -3, -1, 3};
  const int n = 8;
  check::Managed<int> a(n + 2), b(n + 2), quotient(n + 2), remainder(n + 2);
  for (int i = 0; i < n; ++i) a[i] = as[i], b[i] = bs[i];
  a[n] = 5, b[n] = 0;  // what comes out is unspecified; that the kernel goes on is not
  a[n + 1] = 9, b[n + 1] = 3;
  divide_kernel<<<1, n + 2>>>(a, b, quotient, remainder);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    long long q = static_cast<long long>(as[i]) / bs[i], r = static_cast<long long>(as[i]) % bs[i];
    EXPECT_EQUAL_AT(i, quotient[i], static_cast<int>(q));  // INT_MIN / -1 wraps to INT_MIN
    EXPECT_EQUAL_AT(i, remainder[i], static_cast<int>(r));
  }
  EXPECT_EQUAL(quotient[n + 1], 3);
}

__global__ void convert_kernel(const float* in, int* ints, unsigned* unsigneds, long long* longs,
                               unsigned long long* ulongs) {
  int i = threadIdx.x;
  ints[i] = static_cast<int>(in[i]);
  unsigneds[i] = static_cast<unsigned>(in[i]);
  longs[i] = static_cast<long long>(in[i]);
  ulongs[i] = static_cast<unsigned long long>(in[i]);
}

CASE(float_to_integer_saturates) {
  const float samples[] = {0.0f,           -0.0f,     1.9f,          -1.9f,    2147483520.0f, 2147483648.0f, 3e9f,
                           -2147483648.0f, -3e9f,     4294967040.0f, 5e9f,     -1.0f,         1e30f,         -1e30f,
                           INFINITY,       -INFINITY, 9.3e18f,       -9.3e18f, 1.9e19f};
  const int n = sizeof samples / sizeof *samples;
  check::Managed<float> in(n);
  check::Managed<int> ints(n);
  check::Managed<unsigned> unsigneds(n);
  check::Managed<long long> longs(n);
  check::Managed<unsigned long long> ulongs(n);
  for (int i = 0; i < n; ++i) in[i] = samples[i];
  convert_kernel<<<1, n>>>(in, ints, unsigneds, longs, ulongs);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    double x = std::trunc(static_cast<double>(samples[i]));
    EXPECT_EQUAL_AT(i, ints[i], x >= 2147483647.0 ? INT_MAX : x <= -2147483648.0 ? INT_MIN : static_cast<int>(x));
    EXPECT_EQUAL_AT(i, unsigneds[i], x >= 4294967295.0 ? UINT_MAX : x <= 0 ? 0u : static_cast<unsigned>(x));
    EXPECT_EQUAL_AT(i, longs[i],
                    x >= 9223372036854775807.0    ? LLONG_MAX
                    : x <= -9223372036854775808.0 ? LLONG_MIN
                                                  : static_cast<long long>(x));
    EXPECT_EQUAL_AT(i, ulongs[i],
                    x >= 18446744073709551615.0 ? ULLONG_MAX
                    : x <= 0                    ? 0ull
                                                : static_cast<unsigned long long>(x));
  }
}

template <typename T>
__global__ void narrow_kernel(const T* in, unsigned char* bytes, signed char* signed_bytes, unsigned short* words,
                              short* signed_words) {
  int i = threadIdx.x;
  bytes[i] = static_cast<unsigned char>(in[i]);
  signed_bytes[i] = static_cast<signed char>(in[i]);
  words[i] = static_cast<unsigned short>(in[i]);
  signed_words[i] = static_cast<short>(in[i]);
}

template <typename T>
void narrow_case() {
  // Measured on an H200 with nvcc 13.0: the value saturates to 32 bits and is then cut.
  const struct {
    double in;
    int byte, signed_byte, word, signed_word;
  } golden[] = {{295, 39, 39, 295, 295},     {-1, 0, -1, 0, -1},
                {-300, 0, -44, 0, -300},     {70000, 112, 112, 4464, 4464},
                {-70000, 0, -112, 0, -4464}, {5e9, 255, -1, 65535, -1},
                {-5e9, 0, 0, 0, 0},          {1e20, 255, -1, 65535, -1},
                {200, 200, -56, 200, 200},   {40000, 64, 64, 40000, -25536}};
  const int n = sizeof golden / sizeof *golden;
  check::Managed<T> in(n);
  check::Managed<unsigned char> bytes(n);
  check::Managed<signed char> signed_bytes(n);
  check::Managed<unsigned short> words(n);
  check::Managed<short> signed_words(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<T>(golden[i].in);
  narrow_kernel<T><<<1, n>>>(in, bytes, signed_bytes, words, signed_words);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    EXPECT_EQUAL_AT(i, bytes[i], golden[i].byte);
    EXPECT_EQUAL_AT(i, signed_bytes[i], golden[i].signed_byte);
    EXPECT_EQUAL_AT(i, words[i], golden[i].word);
    EXPECT_EQUAL_AT(i, signed_words[i], golden[i].signed_word);
  }
}

CASE(float_to_narrow_integer_goes_through_32_bits) {
  narrow_case<float>();
  narrow_case<double>();
}

__global__ void nan_kernel(float nan, int* out) {
  out[0] = static_cast<int>(nan);
  out[1] = static_cast<int>(static_cast<unsigned>(nan));
}

CASE(nan_to_integer_is_zero) {
  check::Managed<int> out(2);
  out[0] = out[1] = 5;
  nan_kernel<<<1, 1>>>(NAN, out);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[0], 0);
  EXPECT_EQUAL(out[1], 0);
}

__global__ void wrap_kernel(int a, int* out) {
  out[0] = a + 1;
  out[1] = a * 2;
  out[2] = a + 1 > a;  // not folded to true: signed overflow wraps
}

CASE(signed_overflow_wraps) {
  check::Managed<int> out(3);
  wrap_kernel<<<1, 1>>>(INT_MAX, out);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[0], INT_MIN);
  EXPECT_EQUAL(out[1], -2);
}

__global__ void fuse_kernel(float a, float b, float c, float* out) {
  out[0] = a * b + c;                      // contracted by default, as nvcc's -fmad=true does
  out[1] = __fadd_rn(__fmul_rn(a, b), c);  // never contracted
  out[2] = fmaf(a, b, c);
}

CASE(multiply_add_is_fused_unless_asked_not_to) {
  const float a = 1 + 0x1p-12f, b = 1 + 0x1p-12f, c = -1;
  check::Managed<float> out(3);
  fuse_kernel<<<1, 1>>>(a, b, c, out);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[0], static_cast<float>(static_cast<double>(a) * b - 1));
  volatile float product = a * b;
  EXPECT_EQUAL(out[1], product + c);
  EXPECT_EQUAL(out[2], out[0]);
}

CHECK_MAIN()
