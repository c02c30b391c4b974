// Integer intrinsics. Oracle: their definitions in the CUDA Math API, written out on the host.

#include "check.h"

namespace {
constexpr int kCount = 512;

unsigned sample(int i) {
  const unsigned edges[] = {0, 1, 2, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0x00ff00ffu, 0x12345678u};
  return i < 8 ? edges[i] : static_cast<unsigned>(i) * 2654435761u ^ static_cast<unsigned>(i) << 17;
}
unsigned long long sample64(int i) {
  return static_cast<unsigned long long>(sample(i)) << 32 | sample(kCount - 1 - i);
}

unsigned reversed(unsigned x) {
  unsigned result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= (x >> bit & 1) << (31 - bit);
  return result;
}
}  // namespace

__global__ void bit_kernel(const unsigned* in, const unsigned long long* wide, unsigned* out,
                           unsigned long long* out_wide) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = in[i], *to = out + i * 8;
  to[0] = __popc(x), to[1] = __clz(x), to[2] = __ffs(x), to[3] = __brev(x);
  to[4] = __popcll(wide[i]), to[5] = __clzll(wide[i]), to[6] = __ffsll(wide[i]),
  to[7] = __byte_perm(x, ~x, 0x5140 ^ (i & 0x3333));
  out_wide[i] = __brevll(wide[i]);
}

CASE(bits) {
  check::Managed<unsigned> in(kCount), out(kCount * 8);
  check::Managed<unsigned long long> wide(kCount), out_wide(kCount);
  for (int i = 0; i < kCount; ++i) in[i] = sample(i), wide[i] = sample64(i);
  bit_kernel<<<kCount / 128, 128>>>(in, wide, out, out_wide);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) {
    unsigned x = in[i];
    unsigned long long w = wide[i];
    const unsigned expected[] = {static_cast<unsigned>(__builtin_popcount(x)),
                                 static_cast<unsigned>(x ? __builtin_clz(x) : 32),
                                 static_cast<unsigned>(__builtin_ffs(static_cast<int>(x))),
                                 reversed(x),
                                 static_cast<unsigned>(__builtin_popcountll(w)),
                                 static_cast<unsigned>(w ? __builtin_clzll(w) : 64),
                                 static_cast<unsigned>(__builtin_ffsll(static_cast<long long>(w)))};
    for (int k = 0; k < 7; ++k) EXPECT_EQUAL_AT(i * 8 + k, out[i * 8 + k], expected[k]);
    unsigned selector = 0x5140 ^ (i & 0x3333), permuted = 0;
    unsigned long long pool = static_cast<unsigned long long>(~x) << 32 | x;
    for (int b = 0; b < 4; ++b)
      permuted |= static_cast<unsigned>(pool >> (8 * (selector >> (4 * b) & 7)) & 0xff) << (8 * b);
    EXPECT_EQUAL_AT(i, out[i * 8 + 7], permuted);
    EXPECT_EQUAL_AT(i, out_wide[i],
                    static_cast<unsigned long long>(reversed(static_cast<unsigned>(w))) << 32 |
                        reversed(static_cast<unsigned>(w >> 32)));
  }
}

__global__ void multiply_kernel(const unsigned* a, const unsigned* b, unsigned* out, const unsigned long long* c,
                                unsigned long long* out_wide) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* to = out + i * 8;
  to[0] = __umulhi(a[i], b[i]);
  to[1] = __mulhi(static_cast<int>(a[i]), static_cast<int>(b[i]));
  to[2] = __umul24(a[i], b[i]);
  to[3] = __mul24(static_cast<int>(a[i]), static_cast<int>(b[i]));
  to[4] = __usad(a[i], b[i], 5u);
  to[5] = __funnelshift_l(a[i], b[i], i);
  to[6] = __funnelshift_r(a[i], b[i], i);
  to[7] = __uhadd(a[i], b[i]);
  out_wide[i * 2] = __umul64hi(c[i], ~c[i]);
  out_wide[i * 2 + 1] = __mul64hi(static_cast<long long>(c[i]), static_cast<long long>(~c[i] >> 3));
}

CASE(products_sums_and_shifts) {
  check::Managed<unsigned> a(kCount), b(kCount), out(kCount * 8);
  check::Managed<unsigned long long> c(kCount), out_wide(kCount * 2);
  for (int i = 0; i < kCount; ++i) a[i] = sample(i), b[i] = sample((i * 31 + 7) % kCount), c[i] = sample64(i);
  multiply_kernel<<<kCount / 128, 128>>>(a, b, out, c, out_wide);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) {
    unsigned x = a[i], y = b[i];
    int x24 = static_cast<int>(x << 8) >> 8, y24 = static_cast<int>(y << 8) >> 8;
    unsigned long long pair = static_cast<unsigned long long>(y) << 32 | x;
    int s = i & 31;
    const unsigned expected[] = {
        static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32),
        static_cast<unsigned>(static_cast<long long>(static_cast<int>(x)) * static_cast<int>(y) >> 32),
        (x & 0xffffff) * (y & 0xffffff),
        static_cast<unsigned>(static_cast<long long>(x24) * y24),
        (x > y ? x - y : y - x) + 5u,
        static_cast<unsigned>(pair << s >> 32),
        static_cast<unsigned>(pair >> s),
        static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1)};
    for (int k = 0; k < 8; ++k) EXPECT_EQUAL_AT(i * 8 + k, out[i * 8 + k], expected[k]);
    unsigned long long w = c[i];
    EXPECT_EQUAL_AT(i, out_wide[i * 2], static_cast<unsigned long long>(static_cast<unsigned __int128>(w) * ~w >> 64));
    EXPECT_EQUAL_AT(i, out_wide[i * 2 + 1],
                    static_cast<unsigned long long>(
                        static_cast<__int128>(static_cast<long long>(w)) * static_cast<long long>(~w >> 3) >> 64));
  }
}

__global__ void dot_kernel(const unsigned* a, const unsigned* b, int* out, unsigned* out_unsigned) {
  int i = threadIdx.x;
  out[i] = __dp4a(static_cast<int>(a[i]), static_cast<int>(b[i]), 100);
  out_unsigned[i] = __dp4a(a[i], b[i], 7u);
}

CASE(byte_dot_products) {
  check::Managed<unsigned> a(256), b(256), out_unsigned(256);
  check::Managed<int> out(256);
  for (int i = 0; i < 256; ++i) a[i] = sample(i), b[i] = sample(511 - i);
  dot_kernel<<<1, 256>>>(a, b, out, out_unsigned);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) {
    int sum = 100;
    unsigned total = 7;
    for (int k = 0; k < 4; ++k) {
      unsigned x = a[i] >> (8 * k) & 255, y = b[i] >> (8 * k) & 255;
      sum += static_cast<int>(static_cast<signed char>(x)) * static_cast<signed char>(y);
      total += x * y;
    }
    EXPECT_EQUAL_AT(i, out[i], sum);
    EXPECT_EQUAL_AT(i, out_unsigned[i], total);
  }
}

CHECK_MAIN()
