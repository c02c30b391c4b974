#include "reductions.h"

#include <cstring>

#include "simd.h"

namespace bench::expert {
namespace {

constexpr int kPiece = 1 << 14;

/// n is a multiple of kPiece, as in all of these.
float sum(const float* x, int n) {
  float total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int begin = 0; begin < n; begin += kPiece) {
    Floats a{}, b{}, c{}, d{};
    for (int i = begin; i < begin + kPiece; i += 4 * kLanes) {
      a += load(x + i);
      b += load(x + i + kLanes);
      c += load(x + i + 2 * kLanes);
      d += load(x + i + 3 * kLanes);
    }
    total += bench::sum(a + b + c + d);
  }
  return total;
}

template <int... kFrom>
Ints shifted(Ints v) {
  return __builtin_shufflevector(Ints{}, v, kFrom...);  // 0 to 15: zeros; 16 + i: element i
}

/// Sums of elements 0 to i, in four steps.
Ints scan_vector(Ints v) {
  v += shifted<0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30>(v);
  v += shifted<0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29>(v);
  v += shifted<0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27>(v);
  v += shifted<0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23>(v);
  return v;
}

/// Rounds of pieces that the cache holds: summed by all, then scanned by all, so that each is read from memory once.
void scan(const int* x, int* y, int n) {
  constexpr int kPieces = 32, kRound = kPieces * kPiece;
  int before = 0;
  for (int round = 0; round < n; round += kRound) {
    int sums[kPieces] = {};
#pragma omp parallel
    {
#pragma omp for
      for (int p = 0; p < kPieces; ++p) {
        const int begin = round + p * kPiece;
        int piece = 0;
        if (begin < n)
#pragma omp simd reduction(+ : piece)
          for (int i = begin; i < begin + kPiece; ++i) piece += x[i];
        sums[p] = piece;
      }
#pragma omp for
      for (int p = 0; p < kPieces; ++p) {
        const int begin = round + p * kPiece;
        if (begin >= n) continue;
        int start = before;
        for (int i = 0; i < p; ++i) start += sums[i];
        Ints running = Ints{} + start;
        for (int i = begin; i < begin + kPiece; i += kLanes) {
          const Ints v = scan_vector(*reinterpret_cast<const IntsAnywhere*>(x + i));
          stream(reinterpret_cast<float*>(y + i), reinterpret_cast<Floats>(running + v));
          running += __builtin_shufflevector(v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15);
        }
      }
    }
    for (const int piece : sums) before += piece;
  }
}

/// Eight bytes a load into four tables, so that equal neighbours do not wait for each other.
void histogram(const uint8_t* x, int* bins, int n) {
  constexpr int kTables = 4;
  for (int i = 0; i < kBins; ++i) bins[i] = 0;
#pragma omp parallel
  {
    int tables[kTables][kBins] = {};
#pragma omp for nowait
    for (int i = 0; i < n; i += 8) {
      uint64_t bytes;
      std::memcpy(&bytes, x + i, 8);
      for (int k = 0; k < 8; ++k) ++tables[k % kTables][bytes >> (8 * k) & 255];
    }
#pragma omp critical
    for (int i = 0; i < kBins; ++i) bins[i] += tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i];
  }
}

}  // namespace

const Reductions reductions = {sum, scan, histogram};

}  // namespace bench::expert
