#include "sorting.h"

#include <omp.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "simd.h"

namespace bench::expert {
namespace {

typedef uint32_t WordsAnywhere __attribute__((vector_size(64), aligned(4)));

constexpr int kChunk = 1 << 13;  // keys that stay in the first cache

Words load_words(const uint32_t* p) {
  return *reinterpret_cast<const WordsAnywhere*>(p);
}
void store_words(uint32_t* p, Words v) {
  *reinterpret_cast<WordsAnywhere*>(p) = v;
}

/// Compares element i of each vector with element i ^ kStride.
template <int kStride>
void step_within(uint32_t* keys, int begin, int end, int k) {
  const Words lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (int i = begin; i < end; i += kLanes) {
    const Words v = load_words(keys + i);
    const Words other = __builtin_shufflevector(
        v, v, 0 ^ kStride, 1 ^ kStride, 2 ^ kStride, 3 ^ kStride, 4 ^ kStride, 5 ^ kStride, 6 ^ kStride, 7 ^ kStride,
        8 ^ kStride, 9 ^ kStride, 10 ^ kStride, 11 ^ kStride, 12 ^ kStride, 13 ^ kStride, 14 ^ kStride, 15 ^ kStride);
    const Ints takes_less =
        ((lanes & kStride) == 0) == (((lanes + static_cast<uint32_t>(i)) & static_cast<uint32_t>(k)) == 0);
    const Words less = v < other ? v : other, more = v < other ? other : v;
    store_words(keys + i, takes_less ? less : more);
  }
}

/// A step of stride j among keys[begin, end), which is a multiple of 2 j.
void step(uint32_t* keys, int begin, int end, int k, int j) {
  switch (j) {
    case 1:
      return step_within<1>(keys, begin, end, k);
    case 2:
      return step_within<2>(keys, begin, end, k);
    case 4:
      return step_within<4>(keys, begin, end, k);
    case 8:
      return step_within<8>(keys, begin, end, k);
  }
  for (int base = begin; base < end; base += 2 * j) {
    uint32_t *less_to = keys + base, *more_to = keys + base + j;
    if (base & k) std::swap(less_to, more_to);
    for (int i = 0; i < j; i += kLanes) {
      const Words a = load_words(keys + base + i), b = load_words(keys + base + j + i);
      store_words(less_to + i, a < b ? a : b);
      store_words(more_to + i, a < b ? b : a);
    }
  }
}

void bitonic(uint32_t* keys, int n) {
#pragma omp parallel
  {
#pragma omp for
    for (int chunk = 0; chunk < n; chunk += kChunk)
      for (int k = 2; k <= kChunk; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) step(keys, chunk, chunk + kChunk, k, j);
    for (int k = 2 * kChunk; k <= n; k *= 2) {
      for (int j = k / 2; j >= kChunk; j /= 2)
#pragma omp for
        for (int piece = 0; piece < n / 2; piece += kChunk / 2) {  // half a chunk below and half of one above
          const int i = 2 * piece - (piece & (j - 1));
          const bool up = (i & k) == 0;
          for (int p = i; p < i + kChunk / 2; p += kLanes) {
            const Words a = load_words(keys + p), b = load_words(keys + p + j);
            const Words less = a < b ? a : b, more = a < b ? b : a;
            store_words(keys + p, up ? less : more);
            store_words(keys + p + j, up ? more : less);
          }
        }
#pragma omp for
      for (int chunk = 0; chunk < n; chunk += kChunk)
        for (int j = kChunk / 2; j > 0; j /= 2) step(keys, chunk, chunk + kChunk, k, j);
    }
  }
}

/// Two tables of counts, so that equal neighbours do not wait for each other, and no barrier but those that order
/// passes.
void radix(uint32_t* keys, uint32_t* other, int n) {
  std::vector<int> places(omp_get_max_threads() * kDigits);
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    const int begin = static_cast<int>(int64_t{n} * me / threads),
              end = static_cast<int>(int64_t{n} * (me + 1) / threads);
    uint32_t* __restrict from = keys, * __restrict to = other;
    for (int shift = 0; shift < 32; shift += 8) {
      int even[kDigits] = {}, odd[kDigits] = {}, next[kDigits];
      int i = begin;
      for (; i + 1 < end; i += 2) {
        ++even[from[i] >> shift & 255];
        ++odd[from[i + 1] >> shift & 255];
      }
      if (i < end) ++even[from[i] >> shift & 255];
      for (int digit = 0; digit < kDigits; ++digit) places[me * kDigits + digit] = even[digit] + odd[digit];
#pragma omp barrier
      int running = 0;
      for (int digit = 0; digit < kDigits; ++digit)
        for (int t = 0; t < threads; ++t) {
          if (t == me) next[digit] = running;
          running += places[t * kDigits + digit];
        }
      for (int i = begin; i < end; ++i) {
        const uint32_t key = from[i];
        to[next[key >> shift & 255]++] = key;
      }
#pragma omp barrier
      std::swap(from, to);
    }
  }
}

}  // namespace

const Sorting sorting = {bitonic, radix};

}  // namespace bench::expert
