#pragma once

// The oracle of the tests of 16-bit floating point: Table, which knows a format only as the list of its values, decoded
// with ldexp; it rounds by searching the list for the neighbours of an exact value, which is held as the sum of two
// long doubles. And how such a test runs: the same function on the device and on the host, each result looked at.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <limits>

#include "check.h"

namespace {

enum Mode { kNearest, kZero, kUp, kDown };

/// high + low, |low| at most half an ulp of high.
struct Exact {
  long double high, low = 0;
};
Exact sum(long double a, long double b) {
  const long double high = a + b, part = high - a;
  return {high, std::isfinite(high) ? (a - (high - part)) + (b - part) : 0};
}

/// The values of a format by its number of fraction bits: index is the bit pattern without sign.
class Table {
 public:
  explicit Table(int fraction) : infinity_(0x7fff >> fraction << fraction) {
    const int bias = (1 << (14 - fraction)) - 1;
    for (int i = 0; i <= infinity_; ++i) {  // the last stands for infinity: where the next finite value would be
      const int exponent = i >> fraction, significand = (i & ((1 << fraction) - 1)) | (exponent ? 1 << fraction : 0);
      values_.push_back(std::ldexp(static_cast<long double>(significand), std::max(exponent, 1) - bias - fraction));
    }
  }

  long double decode(unsigned short x) const {
    const int magnitude = x & 0x7fff;
    if (magnitude > infinity_) return NAN;
    const long double value = magnitude == infinity_ ? static_cast<long double>(INFINITY) : values_[magnitude];
    return x & 0x8000 ? -value : value;
  }

  /// NaN is 0x7fff.
  unsigned short round(Exact x, Mode mode = kNearest) const {
    if (std::isnan(x.high)) return 0x7fff;
    const bool negative = std::signbit(x.high);
    const unsigned short sign = negative ? 0x8000 : 0;
    if (negative) x.high = -x.high, x.low = -x.low;
    if (std::isinf(x.high)) return static_cast<unsigned short>(sign | infinity_);
    int below = static_cast<int>(std::upper_bound(values_.begin(), values_.end(), x.high) - values_.begin()) - 1;
    if (values_[below] == x.high && x.low < 0) --below;
    if (values_[below] == x.high && x.low == 0 && below < infinity_) return static_cast<unsigned short>(sign | below);
    bool up = mode == (negative ? kDown : kUp);
    if (below >= infinity_) {
      below = infinity_ - 1, up |= mode == kNearest;
    } else if (mode == kNearest) {
      const long double middle = (values_[below] + values_[below + 1]) / 2, beyond = x.high - middle;
      up = beyond != 0 ? beyond > 0 : x.low != 0 ? x.low > 0 : below % 2;
    }
    return static_cast<unsigned short>(sign | (below + up));
  }

  int infinity() const { return infinity_; }

 private:
  int infinity_;
  std::vector<long double> values_;
};

template <typename H>
struct Of;
template <>
struct Of<__half> {
  using Pair = __half2;
  using Raw = __half_raw;
  static const Table& table() {
    static const Table all(10);
    return all;
  }
};
template <>
struct Of<__nv_bfloat16> {
  using Pair = __nv_bfloat162;
  using Raw = __nv_bfloat16_raw;
  static const Table& table() {
    static const Table all(7);
    return all;
  }
};
template <typename H>
using PairOf = typename Of<H>::Pair;

template <typename H>
__host__ __device__ H make(unsigned short bits) {
  return H(typename Of<H>::Raw{bits});
}
template <typename H>
__host__ __device__ unsigned short bits(H x) {
  return static_cast<typename Of<H>::Raw>(x).x;
}
template <typename H>
long double value(H x) {
  return Of<H>::table().decode(bits(x));
}
template <typename H>
bool same(H got, unsigned short expected) {
  const int infinity = Of<H>::table().infinity();
  return (expected & 0x7fff) > infinity ? (bits(got) & 0x7fff) > infinity : bits(got) == expected;
}

constexpr int kAll = 65536;

/// Runs f(i) for i below count on the device; then, if both, on the host, and calls look(i, result, where) for each.
template <typename Result, typename Function>
__global__ void apply(Function f, Result* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = f(i);
}
template <typename Result, typename Function, typename Look>
void on_device(int count, Function f, Look look) {
  check::Managed<Result> out(count);
  apply<<<(count + 255) / 256, 256>>>(f, static_cast<Result*>(out), count);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) look(i, out[i], "device");
}
template <typename Result, typename Function, typename Look>
void on_both(int count, Function f, Look look) {
  on_device<Result>(count, f, look);
  const check::Unrecorded because("the host computes them");
  for (int i = 0; i < count; ++i) look(i, f(i), "host");
}

template <typename H>
void expect_unrecorded(H got, unsigned short expected, const char* what, const char* where, long long index) {
  if (same(got, expected)) return;
  char text[160];
  std::snprintf(text, sizeof text, "%s on the %s [%lld = 0x%llx]: got 0x%04x, expected 0x%04x", what, where, index,
                static_cast<unsigned long long>(index), bits(got), expected);
  check::fail(__FILE__, __LINE__, text);
}
template <typename H>
void expect(H got, unsigned short expected, const char* what, const char* where, long long index) {
  check::record(what, same(got, 0x7fff) ? static_cast<unsigned short>(0x7fff) : bits(got));
  expect_unrecorded(got, expected, what, where, index);
}

/// The operands of each index, in managed memory.
template <typename H>
struct Inputs {
  const unsigned short* words;  ///< three an index
  __host__ __device__ H a(int i) const { return make<H>(words[3 * i]); }
  __host__ __device__ H b(int i) const { return make<H>(words[3 * i + 1]); }
  __host__ __device__ H c(int i) const { return make<H>(words[3 * i + 2]); }
};

/// Pseudo-random bits (Steele, Lea and Flood's SplitMix).
__host__ __device__ inline unsigned long long scrambled(int i) {
  unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  return x ^ x >> 27;
}

}  // namespace

#define FOR_BOTH_TYPES(function) function<__half>(), function<__nv_bfloat16>()
