#pragma once

// What the expert loops share: vectors of sixteen numbers in the compilers' vector extension, which become one AVX-512
// register or two AVX2 ones, stores that bypass the caches, and exp and log without branches, which vectorise.

#include <cstdint>
#include <cstring>

#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#define BENCH_NONTEMPORAL 1
#endif
#endif

namespace bench {
namespace {

constexpr int kLanes = 16;
typedef float Floats __attribute__((vector_size(64)));
typedef int32_t Ints __attribute__((vector_size(64)));
typedef uint32_t Words __attribute__((vector_size(64)));
typedef float FloatsAnywhere __attribute__((vector_size(64), aligned(4)));
typedef int32_t IntsAnywhere __attribute__((vector_size(64), aligned(4)));

[[maybe_unused]] inline Floats load(const float* p) {
  return *reinterpret_cast<const FloatsAnywhere*>(p);
}
[[maybe_unused]] inline void store(float* p, Floats v) {
  *reinterpret_cast<FloatsAnywhere*>(p) = v;
}
[[maybe_unused]] inline Floats all(float x) {
  return Floats{} + x;
}

/// Stores to an address that is a multiple of 64, past the caches where the compiler knows how.
[[maybe_unused]] inline void stream(float* p, Floats v) {
#ifdef BENCH_NONTEMPORAL
  __builtin_nontemporal_store(v, reinterpret_cast<Floats*>(p));
#else
  *reinterpret_cast<Floats*>(p) = v;
#endif
}

[[maybe_unused]] inline float sum(Floats v) {
  float lanes[kLanes], total = 0;
  std::memcpy(lanes, &v, sizeof v);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  total = lanes[0];
  return total;
}

/// exp within 2 ulp for results that are normal numbers (Cephes' polynomial); 0 below.
[[maybe_unused]] inline float fast_exp(float x) {
  x = x > 88.0f ? 88.0f : x;
  const float clamped = x < -87.0f ? -87.0f : x;
  const float n = __builtin_rintf(clamped * 1.44269504f);
  const float r = clamped - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1;
  const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, 4);
  return x < -87.0f ? 0.0f : p * scale;
}

/// log within 2 ulp for normal positive numbers (Cephes' polynomial).
[[maybe_unused]] inline float fast_log(float x) {
  int32_t bits;
  std::memcpy(&bits, &x, 4);
  const int32_t shifted = bits - 0x3f3504f3;  // sqrt(1/2): the mantissa is brought to sqrt(1/2) .. sqrt(2)
  const int32_t exponent = shifted >> 23;
  bits = (shifted & 0x7fffff) + 0x3f3504f3;
  float m;
  std::memcpy(&m, &bits, 4);
  const float r = m - 1, e = static_cast<float>(exponent), square = r * r;
  float p = 7.0376836292e-2f;
  p = p * r - 1.1514610310e-1f;
  p = p * r + 1.1676998740e-1f;
  p = p * r - 1.2420140846e-1f;
  p = p * r + 1.4249322787e-1f;
  p = p * r - 1.6668057665e-1f;
  p = p * r + 2.0000714765e-1f;
  p = p * r - 2.4999993993e-1f;
  p = p * r + 3.3333331174e-1f;
  return r + (p * r * square - 0.5f * square + e * -2.12194440e-4f) + e * 0.693359375f;
}

}  // namespace
}  // namespace bench
