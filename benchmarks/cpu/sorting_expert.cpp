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

/// Keys on their way to one place in memory, a line of sixteen for each digit.
class Lines {
 public:
  Lines(uint32_t* to, const int* places) : to_(to) {
    std::copy_n(places, kDigits, next_);
    std::copy_n(places, kDigits, begin_);
  }
  void add(uint32_t digit, uint32_t key) {
    const int place = next_[digit]++;
    lines_[digit][place % kLanes] = key;
    if (place % kLanes != kLanes - 1) return;
    const int line = place - (kLanes - 1);
    if (line >= begin_[digit])
      store_words(to_ + line, *reinterpret_cast<const Words*>(lines_[digit]));
    else
      for (int i = begin_[digit]; i <= place; ++i) to_[i] = lines_[digit][i % kLanes];
  }
  /// The lines that are not full.
  void finish() {
    for (int digit = 0; digit < kDigits; ++digit)
      for (int i = std::max(begin_[digit], next_[digit] / kLanes * kLanes); i < next_[digit]; ++i)
        to_[i] = lines_[digit][i % kLanes];
  }

 private:
  alignas(64) uint32_t lines_[kDigits][kLanes];
  uint32_t* to_;
  int next_[kDigits], begin_[kDigits];
};

/// As the natural one, but keys leave a line at a time: 256 open pages are too many for a TLB.
void radix(uint32_t* keys, uint32_t* other, int n) {
  std::vector<int> places(omp_get_max_threads() * kDigits);
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    const int begin = static_cast<int>(int64_t{n} * me / threads),
              end = static_cast<int>(int64_t{n} * (me + 1) / threads);
    uint32_t *from = keys, *to = other;
    for (int shift = 0; shift < 32; shift += 8) {
      int counts[2][kDigits] = {};
      for (int i = begin; i < end; ++i) ++counts[i % 2][from[i] >> shift & 255];
      for (int digit = 0; digit < kDigits; ++digit) places[me * kDigits + digit] = counts[0][digit] + counts[1][digit];
#pragma omp barrier
#pragma omp single
      {
        int running = 0;
        for (int digit = 0; digit < kDigits; ++digit)
          for (int t = 0; t < threads; ++t) running += std::exchange(places[t * kDigits + digit], running);
      }
      Lines lines(to, &places[me * kDigits]);
      for (int i = begin; i < end; ++i) lines.add(from[i] >> shift & 255, from[i]);
      lines.finish();
#pragma omp barrier
      std::swap(from, to);
    }
  }
}

}  // namespace

const Sorting sorting = {bitonic, radix};

}  // namespace bench::expert
