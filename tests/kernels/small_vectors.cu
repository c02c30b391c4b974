// Vectors of bytes, 16-bit numbers, halves and bits: as kernels' parameters and functions', in memory, through loops,
// as numbers. Oracle: the same on the host, element by element.

#include "check.h"

typedef _Float16 half2_t __attribute__((ext_vector_type(2)));
typedef signed char char4_t __attribute__((ext_vector_type(4)));
typedef unsigned char uchar3_t __attribute__((ext_vector_type(3)));
typedef short short2_t __attribute__((ext_vector_type(2)));
typedef short short8_t __attribute__((ext_vector_type(8)));
constexpr int kThreads = 64;

__global__ void polynomial(const half2_t* in, half2_t* out, half2_t factor, int turns) {
  half2_t x = in[threadIdx.x];
  for (int i = 0; i < turns; ++i) x = x.yx * factor + (half2_t){1, -2};
  out[threadIdx.x] = x;
}

CASE(halves_through_a_loop) {
  check::Managed<half2_t> in(kThreads), out(kThreads);
  for (int i = 0; i < kThreads; ++i) in[i] = (half2_t){static_cast<_Float16>(i % 16), static_cast<_Float16>(-(i % 16))};
  const half2_t factor = {2, 4};
  polynomial<<<1, kThreads>>>(in, out, factor, 4);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kThreads; ++i) {
    float x = i % 16, y = -x;  // halves hold all sums
    for (int turn = 0; turn < 4; ++turn) {
      const float next = y * 2 + 1;
      y = x * 4 - 2, x = next;
    }
    EXPECT_EQUAL_AT(i, static_cast<float>(out[i].x), x);
    EXPECT_EQUAL_AT(i, static_cast<float>(out[i].y), y);
  }
}

struct Both {
  char4_t bytes;
  short2_t words;
};
__device__ __attribute__((noinline)) Both mixed(Both x, char4_t add, int at) {
  x.bytes += add;
  x.bytes[at & 3] = 7;  // an element that is known later
  x.words = x.words.yx - x.bytes[(at + 1) & 3];
  return x;
}
__device__ __attribute__((noinline)) char4_t halved(char4_t x) {
  return x >> 1;
}

__global__ void mix(const char4_t* bytes, const short2_t* words, char4_t* bytes_out, unsigned* words_out) {
  const int i = threadIdx.x;
  Both x = {bytes[i], words[i]};
  char4_t (*const through)(char4_t) = i % 2 ? halved : nullptr;
  x = mixed(x, bytes[(i + 1) % kThreads], i);
  bytes_out[i] = through ? through(x.bytes) : x.bytes;
  words_out[i] = __builtin_bit_cast(unsigned, x.words);
}

CASE(bytes_and_words_of_functions) {
  check::Managed<char4_t> bytes(kThreads), bytes_out(kThreads);
  check::Managed<short2_t> words(kThreads);
  check::Managed<unsigned> words_out(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    for (int k = 0; k < 4; ++k) bytes[i][k] = static_cast<signed char>(i * 5 + k * 31);
    words[i] = (short2_t){static_cast<short>(i * 1000), static_cast<short>(-i * 700)};
  }
  mix<<<1, kThreads>>>(bytes, words, bytes_out, words_out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kThreads; ++i) {
    signed char expected[4];
    for (int k = 0; k < 4; ++k) expected[k] = static_cast<signed char>(bytes[i][k] + bytes[(i + 1) % kThreads][k]);
    expected[i & 3] = 7;
    const auto low = static_cast<unsigned short>(words[i].y - expected[(i + 1) & 3]);
    const auto high = static_cast<unsigned short>(words[i].x - expected[(i + 1) & 3]);
    EXPECT_EQUAL_AT(i, words_out[i], low | static_cast<unsigned>(high) << 16);
    for (int k = 0; k < 4; ++k) {
      const signed char byte = bytes_out[i][k];
      EXPECT_EQUAL_AT(i, byte, i % 2 ? expected[k] >> 1 : expected[k]);
    }
  }
}

__global__ void shared_and_volatile(const uchar3_t* in, volatile short2_t* pairs, unsigned* out) {
  __shared__ uchar3_t tile[kThreads];
  const int i = threadIdx.x;
  tile[i] = in[i];
  __syncthreads();
  const uchar3_t x = tile[kThreads - 1 - i];
  const short2_t pair = pairs[i];
  pairs[i] = pair.yx;
  out[i] = x.x | x.y << 8 | x.z << 16 | (pair.x > pair.y ? 1u << 24 : 0);
}

CASE(shared_and_volatile_memory) {
  check::Managed<uchar3_t> in(kThreads);
  check::Managed<short2_t> pairs(kThreads);
  check::Managed<unsigned> out(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    in[i] =
        (uchar3_t){static_cast<unsigned char>(i), static_cast<unsigned char>(2 * i), static_cast<unsigned char>(3 * i)};
    pairs[i] = (short2_t){static_cast<short>(i * 37 % 64), static_cast<short>(i)};
  }
  shared_and_volatile<<<1, kThreads>>>(in, &pairs[0], out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kThreads; ++i) {
    const unsigned from = kThreads - 1 - i;
    EXPECT_EQUAL_AT(i, out[i],
                    from | (2 * from & 255) << 8 | (3 * from & 255) << 16 | (i * 37 % 64 > i ? 1u << 24 : 0));
    const short low = pairs[i].x, high = pairs[i].y;
    EXPECT_EQUAL_AT(i, low, i);
    EXPECT_EQUAL_AT(i, high, i * 37 % 64);
  }
}

__global__ void reduce(const short8_t* in, int* out) {
  const short8_t x = in[threadIdx.x], limit = 100;
  int* const mine = out + 4 * threadIdx.x;
  mine[0] = __builtin_reduce_add(x);
  mine[1] = __builtin_reduce_min(x);
  mine[2] = __builtin_reduce_max(__builtin_convertvector(x, short8_t) ^ limit);
  mine[3] = __builtin_popcount(
      __builtin_bit_cast(unsigned char, __builtin_convertvector(x > limit, bool __attribute__((ext_vector_type(8))))));
}

CASE(all_elements_at_once) {
  check::Managed<short8_t> in(kThreads);
  check::Managed<int> out(4 * kThreads);
  for (int i = 0; i < kThreads; ++i)
    for (int k = 0; k < 8; ++k) in[i][k] = static_cast<short>((i * 8 + k) * 12345);
  reduce<<<1, kThreads>>>(in, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kThreads; ++i) {
    short sum = 0, least = INT16_MAX, most = INT16_MIN;
    int above = 0;
    for (int k = 0; k < 8; ++k) {
      const short x = in[i][k], mixed = static_cast<short>(x ^ 100);
      sum = static_cast<short>(sum + x), least = x < least ? x : least, most = mixed > most ? mixed : most,
      above += x > 100;
    }
    const int expected[] = {sum, least, most, above};
    for (int k = 0; k < 4; ++k) EXPECT_EQUAL_AT(i, out[4 * i + k], expected[k]);
  }
}

CHECK_MAIN()
