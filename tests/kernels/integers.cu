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
  const char4 bytes[] = {reinterpret_cast<const char4*>(a)[i], reinterpret_cast<const char4*>(b)[i]};
  const uchar4 unsigned_bytes[] = {reinterpret_cast<const uchar4*>(a)[i], reinterpret_cast<const uchar4*>(b)[i]};
  out[i + 256] = __dp4a(bytes[0], bytes[1], 100);
  out[i + 512] = __dp2a_lo(reinterpret_cast<const short2*>(a)[i], bytes[1], 5);
  out[i + 768] = __dp2a_hi(static_cast<int>(a[i]), static_cast<int>(b[i]), 5);
  out_unsigned[i + 256] = __dp4a(unsigned_bytes[0], unsigned_bytes[1], 7u);
  out_unsigned[i + 512] = __dp2a_lo(a[i], b[i], 5u);
  out_unsigned[i + 768] = __dp2a_hi(reinterpret_cast<const ushort2*>(a)[i], unsigned_bytes[1], 5u);
}

// dp4a and dp2a of all signs; of what all lanes share in a loop, too.
#define DOT(to, form, a, b, c) asm(form " %0, %1, %2, %3;" : "=r"(to) : "r"(a), "r"(b), "r"(c))
__global__ void signed_dots_kernel(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = a[i], y = b[i], z = c[i], *to = out + i * 16;
  DOT(to[0], "dp4a.u32.u32", x, y, z);
  DOT(to[1], "dp4a.s32.u32", x, y, z);
  DOT(to[2], "dp4a.u32.s32", x, y, z);
  DOT(to[3], "dp4a.s32.s32", x, y, z);
  DOT(to[4], "dp2a.lo.u32.u32", x, y, z);
  DOT(to[5], "dp2a.lo.s32.u32", x, y, z);
  DOT(to[6], "dp2a.lo.u32.s32", x, y, z);
  DOT(to[7], "dp2a.lo.s32.s32", x, y, z);
  DOT(to[8], "dp2a.hi.u32.u32", x, y, z);
  DOT(to[9], "dp2a.hi.s32.u32", x, y, z);
  DOT(to[10], "dp2a.hi.u32.s32", x, y, z);
  DOT(to[11], "dp2a.hi.s32.s32", x, y, z);
  unsigned sums[4] = {z, z, z, z};
  for (int turn = 0; turn < turns; ++turn) {
    DOT(sums[0], "dp4a.u32.u32", b[turn], x, sums[0]);
    DOT(sums[1], "dp4a.s32.s32", b[turn], x, sums[1]);
    DOT(sums[2], "dp4a.s32.s32", x, b[turn], sums[2]);
    DOT(sums[3], "dp4a.u32.s32", b[turn], x, sums[3]);
  }
  for (int k = 0; k < 4; ++k) to[12 + k] = sums[k];
}
#undef DOT

long long part(unsigned word, int place, int width, bool is_signed) {
  long long bits = word >> (place * width) & ((1u << width) - 1);
  return is_signed && bits >> (width - 1) ? bits - (1ll << width) : bits;
}

/// kind: bit 0, a's parts are signed; bit 1, b's are; bits 2 and up: bytes, or halves by b's lower or upper half.
unsigned dot(int kind, unsigned a, unsigned b, unsigned c) {
  long long sum = c;
  if (kind >= 8) b >>= 16;
  for (int k = 0; k < (kind < 4 ? 4 : 2); ++k) sum += part(a, k, kind < 4 ? 8 : 16, kind & 1) * part(b, k, 8, kind & 2);
  return static_cast<unsigned>(sum);
}

CASE(byte_dot_products) {
  check::Managed<unsigned> a(256), b(256), out_unsigned(1024);
  check::Managed<int> out(1024);
  for (int i = 0; i < 256; ++i) a[i] = sample(i), b[i] = sample(511 - i);
  dot_kernel<<<1, 256>>>(a, b, out, out_unsigned);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) {
    for (int form = 0; form < 2; ++form) {
      EXPECT_EQUAL_AT(i, out[i + 256 * form], static_cast<int>(dot(3, a[i], b[i], 100)));
      EXPECT_EQUAL_AT(i, out_unsigned[i + 256 * form], dot(0, a[i], b[i], 7));
    }
    EXPECT_EQUAL_AT(i, out[i + 512], static_cast<int>(dot(7, a[i], b[i], 5)));
    EXPECT_EQUAL_AT(i, out[i + 768], static_cast<int>(dot(11, a[i], b[i], 5)));
    EXPECT_EQUAL_AT(i, out_unsigned[i + 512], dot(4, a[i], b[i], 5));
    EXPECT_EQUAL_AT(i, out_unsigned[i + 768], dot(8, a[i], b[i], 5));
  }
}

CASE(dot_products_of_all_signs) {
  const unsigned edges[] = {0,           0xffffffffu, 0x80808080u, 0x7f7f7f7fu, 0x80008000u, 0x7fff7fffu,
                            0x807f807fu, 0x00ff00ffu, 0xff00ff00u, 0x80000000u, 0x7fffffffu, 1};
  const int count = 4096, turns = 5;
  check::Managed<unsigned> a(count), b(count), c(count), out(count * 16);
  for (int i = 0; i < count; ++i) {
    a[i] = i < 144 ? edges[i % 12] : sample(i), b[i] = i < 144 ? edges[i / 12] : sample(i * 3 + 1);
    c[i] = i % 3 ? edges[i % 12] : sample(i + 7);
  }
  signed_dots_kernel<<<count / 128, 128>>>(a, b, c, out, turns);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) {
    for (int kind = 0; kind < 12; ++kind)
      EXPECT_EQUAL_AT(i * 16 + kind, out[i * 16 + kind], dot(kind, a[i], b[i], c[i]));
    unsigned sums[4] = {c[i], c[i], c[i], c[i]};
    for (int turn = 0; turn < turns; ++turn) {
      sums[0] = dot(0, b[turn], a[i], sums[0]);
      sums[1] = dot(3, b[turn], a[i], sums[1]);
      sums[2] = dot(3, a[i], b[turn], sums[2]);
      sums[3] = dot(2, b[turn], a[i], sums[3]);
    }
    for (int k = 0; k < 4; ++k) EXPECT_EQUAL_AT(i * 16 + 12 + k, out[i * 16 + 12 + k], sums[k]);
  }
}

CHECK_MAIN()
