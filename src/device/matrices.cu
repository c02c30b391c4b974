#include "device.h"

// What the warp-level matrix instructions of PTX do ("PTX ISA, Warp Level Matrix Instructions"). Names and arguments
// are the contract with ptx/lower/matrices.cpp.
//
// A lane's registers come as one array of words: those of A, then B, then C; those of D replace C's. Each lane widens
// its elements of A and B once and shows them to the warp (`publish`); each then computes its own elements of D.
//
// mma.sync's fragments lie as the ISA documents. All its shapes follow one rule. With 4 lanes to a row, lane = 4g + t,
// and P elements to a register (of 32 bits; of 64 for f64), register r of A holds row g, or g + 8 for an odd r of the
// shapes with 16 rows, and columns 4P (r >> 1) + P t + 0..P-1 (4P r for 8 rows); register r of B holds column g, rows
// 4P r + P t + 0..P-1; C and D hold rows g and g + 8, columns 2t and 2t + 1.
//
// wmma's fragments are the implementation's own. Those of the m8n8 shapes are mma's. All others are lines, rows of all
// three matrices: of L lines, lane l has line l % L, elements E (l / L) to E (l / L) + E - 1, modulo the line's length;
// a fragment larger than a line is filled up with zeros. So the lane that holds eight columns of a row of D often has
// that row of A, and finds its eight columns of each row of B side by side.
//
// Numbers: products are exact in f32 (f16, bf16, tf32, fp8) and are added to C in f32 in ascending k, rounded to
// nearest each time; f64 is an fma in ascending k; integers are exact and wrap, or saturate once at the end.

extern "C" DEVICE const unsigned* cupola_warp_publish(const unsigned* words,
                                                      unsigned count) __asm__("cupola.warp_publish");

namespace {

using namespace cupola::device;

/// The last argument of a multiplication.
enum Flags : unsigned {
  kSignedA = 1,  // of s8 and s4; for fp8: e5m2
  kSignedB = 2,
  kSaturate = 4,
  kHalfC = 8,   // C is f16, two to a word
  kHalfD = 16,  // likewise D
  kXor = 32,    // of b1; else and
  kToZero = 64,
  kDown = 128,
  kUp = 192,  // roundings of f64_directed
};

LOCAL unsigned lane() {
  return (unsigned)__nvvm_read_ptx_sreg_laneid();
}

LOCAL float half_to_float(unsigned bits) {
  return (float)__builtin_bit_cast(_Float16, (unsigned short)bits);
}
LOCAL unsigned float_to_half(float x) {
  return __builtin_bit_cast(unsigned short, (_Float16)x);
}

/// An 8-bit float by its exponent bits: e4m3 has one NaN and no infinity, e5m2 is the upper half of an f16.
LOCAL float byte_to_float(unsigned byte, bool e5m2) {
  if (e5m2) return half_to_float(byte << 8);
  if ((byte & 0x7f) == 0x7f) return from_bits(0x7fffffffu);
  // As an f16 its exponent bias is 15, not 7: times 2^8.
  return half_to_float((byte & 0x80) << 8 | (byte & 0x7f) << 7) * 256.0f;
}

// Element types: P of them in a register of `kWords` words; a widened element is a Wide.

struct F16 {
  using Wide = float;
  static constexpr int P = 2, kWords = 1;
  LOCAL Wide widen(const unsigned* at, int i, bool) { return half_to_float(at[0] >> 16 * i); }
};
struct Bf16 {
  using Wide = float;
  static constexpr int P = 2, kWords = 1;
  LOCAL Wide widen(const unsigned* at, int i, bool) { return from_bits(i ? at[0] & 0xffff0000u : at[0] << 16); }
};
struct Tf32 {  // the top 19 bits of the register
  using Wide = float;
  static constexpr int P = 1, kWords = 1;
  LOCAL Wide widen(const unsigned* at, int, bool) { return from_bits(at[0] & 0xffffe000u); }
};
struct F8 {
  using Wide = float;
  static constexpr int P = 4, kWords = 1;
  LOCAL Wide widen(const unsigned* at, int i, bool e5m2) { return byte_to_float(at[0] >> 8 * i & 0xff, e5m2); }
};
struct F64 {
  using Wide = double;
  static constexpr int P = 1, kWords = 2;
  LOCAL Wide widen(const unsigned* at, int, bool) { return from_bits((unsigned long long)at[1] << 32 | at[0]); }
};
struct F64Directed : F64 {};
struct I8 {
  using Wide = int;
  static constexpr int P = 4, kWords = 1;
  LOCAL Wide widen(const unsigned* at, int i, bool is_signed) {
    const int top = (int)(at[0] << (24 - 8 * i));
    return is_signed ? top >> 24 : (int)((unsigned)top >> 24);
  }
};
struct I4 {
  using Wide = int;
  static constexpr int P = 8, kWords = 1;
  LOCAL Wide widen(const unsigned* at, int i, bool is_signed) {
    const int top = (int)(at[0] << (28 - 4 * i));
    return is_signed ? top >> 28 : (int)((unsigned)top >> 28);
  }
};
struct Word {  // 32 bits of b1
  using Wide = int;
  static constexpr int P = 1, kWords = 1;
  LOCAL Wide widen(const unsigned* at, int, bool) { return (int)at[0]; }
};

LOCAL float multiply_add(float a, float b, float c, unsigned) {
  return a * b + c;
}
LOCAL double multiply_add(double a, double b, double c, unsigned) {
  return __builtin_fma(a, b, c);
}
LOCAL int multiply_add(int a, int b, int c, unsigned) {
  return (int)((unsigned)a * (unsigned)b + (unsigned)c);
}
template <typename Element>
LOCAL typename Element::Wide step(Element, typename Element::Wide a, typename Element::Wide b, typename Element::Wide c,
                                  unsigned flags) {
  return multiply_add(a, b, c, flags);
}
LOCAL double step(F64Directed, double a, double b, double c, unsigned flags) {
  switch (flags & kUp) {
    case kToZero:
      return __nv_fma_rz(a, b, c);
    case kDown:
      return __nv_fma_rd(a, b, c);
    default:
      return __nv_fma_ru(a, b, c);
  }
}
LOCAL int step(Word, int a, int b, int c, unsigned flags) {
  return c + __builtin_popcount((unsigned)(flags & kXor ? a ^ b : a & b));
}

/// The lane's `n` elements of C, as the sum begins.
template <int n>
LOCAL void read_sum(float (&sum)[n], const unsigned* c, unsigned flags) {
  for (int i = 0; i < n; ++i) sum[i] = flags & kHalfC ? half_to_float(c[i / 2] >> 16 * (i % 2)) : from_bits(c[i]);
}
template <int n>
LOCAL void read_sum(double (&sum)[n], const unsigned* c, unsigned) {
  for (int i = 0; i < n; ++i) sum[i] = F64::widen(c + 2 * i, 0, false);
}
template <int n>
LOCAL void read_sum(int (&sum)[n], const unsigned*, unsigned) {  // C comes last, where saturation looks
  for (int i = 0; i < n; ++i) sum[i] = 0;
}

template <int n>
LOCAL void write_sum(const float (&sum)[n], unsigned* d, unsigned flags) {
  if (flags & kHalfD)
    for (int i = 0; i < n; i += 2) d[i / 2] = float_to_half(sum[i]) | float_to_half(sum[i + 1]) << 16;
  else
    for (int i = 0; i < n; ++i) d[i] = bits(sum[i]);
}
template <int n>
LOCAL void write_sum(const double (&sum)[n], unsigned* d, unsigned) {
  for (int i = 0; i < n; ++i) {
    const unsigned long long each = bits(sum[i]);
    d[2 * i] = (unsigned)each, d[2 * i + 1] = (unsigned)(each >> 32);
  }
}
template <int n>
LOCAL void write_sum(const int (&sum)[n], unsigned* d, unsigned flags) {
  for (int i = 0; i < n; ++i) {
    const long long exact = (long long)sum[i] + (int)d[i];
    const long long clamped = exact > 0x7fffffff ? 0x7fffffff : exact < -0x7fffffffll - 1 ? -0x7fffffffll - 1 : exact;
    d[i] = (unsigned)(flags & kSaturate ? clamped : exact);
  }
}

template <typename Element, int registers>
LOCAL void widen(typename Element::Wide* to, const unsigned* from, bool flag) {
  constexpr int P = Element::P;
  for (int i = 0; i < registers * P; ++i) to[i] = Element::widen(from + i / P * Element::kWords, i % P, flag);
}

template <typename Wide>
LOCAL const Wide* publish(const Wide* values, int count) {
  return reinterpret_cast<const Wide*>(
      cupola_warp_publish(reinterpret_cast<const unsigned*>(values), (unsigned)count * (sizeof(Wide) / 4)));
}

/// mma.sync: M rows (8 or 16), 8 columns, K products (for b1 in words).
template <typename Element, int M, int K>
LOCAL void fragments(unsigned* words, unsigned flags) {
  using Wide = typename Element::Wide;
  constexpr int P = Element::P, kHalves = M / 8, kSteps = K / (4 * P);  // registers of B
  constexpr int kOwnA = kSteps * kHalves * P, kOwn = kOwnA + kSteps * P;
  alignas(8) Wide own[kOwn];
  widen<Element, kSteps * kHalves>(own, words, flags & kSignedA);
  widen<Element, kSteps>(own + kOwnA, words + kSteps * kHalves * Element::kWords, flags & kSignedB);
  const Wide* all = publish(own, kOwn);

  unsigned* c = words + kSteps * (kHalves + 1) * Element::kWords;
  Wide sum[2 * kHalves];
  read_sum(sum, c, flags);
  const unsigned g = lane() / 4, t = lane() % 4;
  const Wide* rows = all + 4 * g * kOwn;             // of lanes 4g to 4g + 3
  const Wide* columns = all + 8 * t * kOwn + kOwnA;  // lanes 8t to 8t + 3 have column 2t, the next four 2t + 1
#pragma unroll
  for (int r = 0; r < kSteps; ++r)
#pragma unroll
    for (int from = 0; from < 4; ++from)
#pragma unroll
      for (int i = 0; i < P; ++i)
#pragma unroll
        for (int d = 0; d < 2 * kHalves; ++d) {
          const Wide a = rows[from * kOwn + (r * kHalves + d / 2) * P + i];
          const Wide b = columns[(4 * (d % 2) + from) * kOwn + r * P + i];
          sum[d] = step(Element(), a, b, sum[d], flags);
        }
  write_sum(sum, c, flags);
}

LOCAL constexpr int least(int a, int b) {
  return a < b ? a : b;
}

/// wmma.mma of the shapes that lie in lines; wordsA and wordsB registers.
template <typename Element, int M, int N, int K, int registersA, int registersB>
LOCAL void lines(unsigned* words, unsigned flags) {
  using Wide = typename Element::Wide;
  constexpr int kOwnA = least(registersA * Element::P, K), kOwnB = least(registersB * Element::P, N);
  constexpr bool kHasRow = kOwnA == K;  // of A: need not be shown
  constexpr int kShown = kHasRow ? kOwnB : kOwnA + kOwnB, kB = kHasRow ? 0 : kOwnA;
  alignas(8) Wide row[kOwnA], own[kShown];
  widen<Element, kOwnA / Element::P>(row, words, flags & kSignedA);
  if (!kHasRow)
    for (int i = 0; i < kOwnA; ++i) own[i] = row[i];
  widen<Element, kOwnB / Element::P>(own + kB, words + registersA, flags & kSignedB);
  const Wide* all = publish(own, kShown);

  unsigned* c = words + registersA + registersB;
  Wide sum[8];
  read_sum(sum, c, flags);
  const unsigned r = lane() % M, column = lane() / M * 8;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const Wide a = kHasRow ? row[k] : all[(r + M * (k / kOwnA)) * kShown + k % kOwnA];
    const Wide* b = all + (k + K * (column / kOwnB)) * kShown + kB + column % kOwnB;
#pragma unroll
    for (int j = 0; j < 8; ++j) sum[j] = step(Element(), a, b[K * (j / kOwnB) * kShown + j % kOwnB], sum[j], flags);
  }
  write_sum(sum, c, flags);
}

/// Where a lane's piece of a matrix begins. `place` packs: bits 0 to 7 lines less 1, 8 to 15 pieces of a line less 1,
/// 16 to 19 how far the lane is shifted for its line, 20 to 23 for its piece.
struct Piece {
  unsigned line, piece;
};
LOCAL Piece piece_of(unsigned place) {
  return {lane() >> (place >> 16 & 15) & (place & 255), lane() >> (place >> 20 & 15) & (place >> 8 & 255)};
}

/// Elements in memory: `count` a lane, from one line to the next `line_step` elements, within a line `step`.
template <typename Element>
LOCAL void load(Element* fragment, const Element* matrix, unsigned line_step, unsigned step, unsigned place,
                unsigned count) {
  const Piece at = piece_of(place);
  const Element* from = matrix + (unsigned long long)at.line * line_step + (unsigned long long)at.piece * count * step;
  for (unsigned i = 0; i < count; ++i) fragment[i] = from[(unsigned long long)i * step];
}
template <typename Element>
LOCAL void store(const Element* fragment, Element* matrix, unsigned line_step, unsigned step, unsigned place,
                 unsigned count) {
  const Piece at = piece_of(place);
  Element* to = matrix + (unsigned long long)at.line * line_step + (unsigned long long)at.piece * count * step;
  for (unsigned i = 0; i < count; ++i) to[(unsigned long long)i * step] = fragment[i];
}

/// The half at column lane / 4 of rows 2t and 2t + 1, of a matrix whose row r lies in words[r * row] and the next three
/// (times `word`).
LOCAL unsigned transposed(const unsigned* words, unsigned row, unsigned word) {
  const unsigned column = lane() / 4, r = lane() % 4 * 2, shift = column % 2 * 16;
  const unsigned low = words[r * row + column / 2 * word], high = words[(r + 1) * row + column / 2 * word];
  return (low >> shift & 0xffff) | (high >> shift) << 16;
}

}  // namespace

// Multiplications take the words of A, B and C and leave D's where C's were.
#define MMA(shape, type, ...)                                                  \
  NV void __cupola_ptx_mma_##shape##_##type(unsigned* words, unsigned flags) { \
    fragments<__VA_ARGS__>(words, flags);                                      \
  }
#define WMMA(shape, type, ...)                                                  \
  NV void __cupola_ptx_wmma_##shape##_##type(unsigned* words, unsigned flags) { \
    lines<__VA_ARGS__>(words, flags);                                           \
  }

MMA(m16n8k8, f16, F16, 16, 8)
MMA(m16n8k16, f16, F16, 16, 16)
MMA(m16n8k8, bf16, Bf16, 16, 8)
MMA(m16n8k16, bf16, Bf16, 16, 16)
MMA(m16n8k4, tf32, Tf32, 16, 4)
MMA(m16n8k8, tf32, Tf32, 16, 8)
MMA(m16n8k16, f8, F8, 16, 16)
MMA(m16n8k32, f8, F8, 16, 32)
MMA(m8n8k4, f64, F64, 8, 4)
MMA(m16n8k4, f64, F64, 16, 4)
MMA(m16n8k8, f64, F64, 16, 8)
MMA(m16n8k16, f64, F64, 16, 16)
MMA(m8n8k4, f64_directed, F64Directed, 8, 4)
MMA(m16n8k4, f64_directed, F64Directed, 16, 4)
MMA(m16n8k8, f64_directed, F64Directed, 16, 8)
MMA(m16n8k16, f64_directed, F64Directed, 16, 16)
MMA(m8n8k16, i8, I8, 8, 16)
MMA(m16n8k16, i8, I8, 16, 16)
MMA(m16n8k32, i8, I8, 16, 32)
MMA(m8n8k32, i4, I4, 8, 32)
MMA(m16n8k32, i4, I4, 16, 32)
MMA(m16n8k64, i4, I4, 16, 64)
MMA(m8n8k128, b1, Word, 8, 4)
MMA(m16n8k128, b1, Word, 16, 4)
MMA(m16n8k256, b1, Word, 16, 8)

WMMA(m16n16k16, f16, F16, 16, 16, 16, 8, 8)
WMMA(m8n32k16, f16, F16, 8, 32, 16, 8, 8)
WMMA(m32n8k16, f16, F16, 32, 8, 16, 8, 8)
WMMA(m16n16k16, bf16, Bf16, 16, 16, 16, 4, 4)
WMMA(m8n32k16, bf16, Bf16, 8, 32, 16, 2, 8)
WMMA(m32n8k16, bf16, Bf16, 32, 8, 16, 8, 2)
WMMA(m16n16k8, tf32, Tf32, 16, 16, 8, 4, 4)
WMMA(m16n16k16, i8, I8, 16, 16, 16, 2, 2)
WMMA(m8n32k16, i8, I8, 8, 32, 16, 1, 4)
WMMA(m32n8k16, i8, I8, 32, 8, 16, 4, 1)

// wmma.load and wmma.store.
#define LOAD_STORE(bits, Element)                                                                                      \
  NV void __cupola_ptx_matrix_load_##bits(Element* fragment, const Element* matrix, unsigned line_step, unsigned step, \
                                          unsigned place, unsigned count) {                                            \
    load(fragment, matrix, line_step, step, place, count);                                                             \
  }                                                                                                                    \
  NV void __cupola_ptx_matrix_store_##bits(const Element* fragment, Element* matrix, unsigned line_step,               \
                                           unsigned step, unsigned place, unsigned count) {                            \
    store(fragment, matrix, line_step, step, place, count);                                                            \
  }
LOAD_STORE(8, unsigned char)
LOAD_STORE(16, unsigned short)
LOAD_STORE(32, unsigned)
LOAD_STORE(64, unsigned long long)

// ldmatrix: lane 8m + r has the address of row r of matrix m. It loads the row, so that all is read before any lane
// goes on; then each takes its words.
NV void __cupola_ptx_load_matrices(unsigned* d, const unsigned* row, unsigned count, unsigned trans) {
  unsigned own[4] = {};
  if (lane() < 8 * count)
    for (int i = 0; i < 4; ++i) own[i] = row[i];
  const unsigned* all = cupola_warp_publish(own, 4);
  for (unsigned m = 0; m < count; ++m) d[m] = trans ? transposed(all + 32 * m, 4, 1) : all[32 * m + lane()];
}

// stmatrix, the other way round.
NV void __cupola_ptx_store_matrices(unsigned* row, const unsigned* d, unsigned count, unsigned trans) {
  const unsigned* all = cupola_warp_publish(d, count);
  if (lane() >= 8 * count) return;
  const unsigned m = lane() / 8, r = lane() % 8;
  for (unsigned i = 0; i < 4; ++i) {
    if (!trans) {
      row[i] = all[(4 * r + i) * count + m];
      continue;
    }
    // Lane 4c + t holds column c, rows 2t and 2t + 1, of what is stored.
    const unsigned low = all[(4 * (2 * i) + r / 2) * count + m], high = all[(4 * (2 * i + 1) + r / 2) * count + m];
    row[i] = (low >> r % 2 * 16 & 0xffff) | (high >> r % 2 * 16) << 16;
  }
}

// movmatrix
NV unsigned __cupola_ptx_transpose_matrix(unsigned a) {
  return transposed(cupola_warp_publish(&a, 1), 4, 1);
}
