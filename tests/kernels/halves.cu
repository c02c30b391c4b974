// The 16-bit floating-point types as values: pairs, operators, constants, in warps and in memory. Oracle: by hand.

#include "half_table.h"

// As a program may declare it again, for the device alone.
extern __device__ bool __heq(__half, __half);

CASE(declared_again) {
  EXPECT(__heq(__half(2), __half(2)));
  EXPECT(!__heq(__half(2), __half(3)));
}

CASE(pairs) {
  const __half2 a = __floats2half2_rn(1, 2), b = __float22half2_rn({3, 4});
  const auto is = [](__half2 got, float low, float high) {
    EXPECT_EQUAL(__low2float(got), low);
    EXPECT_EQUAL(__high2float(got), high);
  };
  is(__lowhigh2highlow(a), 2, 1);
  is(__lows2half2(a, b), 1, 3);
  is(__highs2half2(a, b), 2, 4);
  is(__low2half2(a), 1, 1);
  is(__high2half2(a), 2, 2);
  is(__halves2half2(__low2half(b), __high2half(a)), 3, 2);
  is(__half2half2(__float2half(5)), 5, 5);
  is(__float2half2_rn(6), 6, 6);
  is(make_half2(b.y, b.x), 4, 3);
  EXPECT_EQUAL(__half22float2(b).y, 4);
  const __nv_bfloat162 c = __floats2bfloat162_rn(1, 2), d = __float22bfloat162_rn({3, 4});
  EXPECT_EQUAL(__bfloat1622float2(__lows2bfloat162(c, d)).y, 3);
  EXPECT_EQUAL(__bfloat1622float2(__highs2bfloat162(c, d)).x, 2);
  EXPECT_EQUAL(__bfloat1622float2(__bfloat162bfloat162(d.x)).y, 3);
  EXPECT_EQUAL(__high2float(__halves2bfloat162(d.y, c.x)), 1);
  EXPECT_EQUAL(__low2float(make_bfloat162(d.y, c.x)), 4);
}

template <typename H>
void operators() {
  H x = 3;
  const H before = x++;
  EXPECT_EQUAL(static_cast<float>(before + ++x), 8);
  EXPECT_EQUAL(static_cast<int>(x--), 5);
  EXPECT_EQUAL(static_cast<short>(--x), 3);
  x += H(1), x *= H(6), x -= H(4), x /= H(8);
  EXPECT_EQUAL(static_cast<double>(x), 2.5);
  PairOf<H> pair(x, H(1));
  const PairOf<H> negative = -(++pair * pair);
  const PairOf<H> positive = +pair--;
  pair = negative + positive;
  EXPECT_EQUAL(static_cast<float>(pair.x), -8.75f);
  EXPECT_EQUAL(static_cast<float>(pair.y), -2);
}
CASE(operators) {
  FOR_BOTH_TYPES(operators);
  EXPECT_EQUAL(static_cast<float>(__half(__nv_bfloat16(1.5f))), 1.5f);
  EXPECT_EQUAL(bits(__nv_bfloat16(__half(1 + 0x1p-8f + 0x1p-9f))), 0x3f81);
  EXPECT_EQUAL(__half2float(CUDART_MAX_NORMAL_FP16), 65504);
  EXPECT_EQUAL(__bfloat162float(CUDART_MIN_DENORM_BF16), 0x1p-133f);
}

// -- warps and memory. Oracle: lane numbers, and sums that both types hold exactly --

template <typename H>
__global__ void exchange(float* out) {
  const int lane = static_cast<int>(threadIdx.x);
  const H x = lane;
  const PairOf<H> pair(x, -x);
  out[8 * lane] = static_cast<float>(__shfl_sync(~0u, x, 3));
  out[8 * lane + 1] = static_cast<float>(__shfl_up_sync(~0u, x, 1));
  out[8 * lane + 2] = static_cast<float>(__shfl_down_sync(~0u, x, 1, 16));
  out[8 * lane + 3] = static_cast<float>(__shfl_xor_sync(~0u, x, 5));
  out[8 * lane + 4] = static_cast<float>(__shfl_sync(~0u, pair, 3).y);
  out[8 * lane + 5] = static_cast<float>(__shfl_up_sync(~0u, pair, 1).y);
  out[8 * lane + 6] = static_cast<float>(__shfl_down_sync(~0u, pair, 1, 16).y);
  out[8 * lane + 7] = static_cast<float>(__shfl_xor_sync(~0u, pair, 5).y);
}
template <typename H>
void shuffles() {
  check::Managed<float> out(256);
  exchange<H><<<1, 32>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int lane = 0; lane < 32; ++lane) {
    const int from[] = {3, lane ? lane - 1 : 0, lane % 16 == 15 ? lane : lane + 1, lane ^ 5};
    for (int i = 0; i < 8; ++i) EXPECT_EQUAL_AT(lane, out[8 * lane + i], i < 4 ? from[i] : -from[i - 4]);
  }
}
CASE(shuffles) {
  FOR_BOTH_TYPES(shuffles);
}

template <typename T>
__global__ void copy_with_hints(const T* in, T* out) {
  __stwb(out, __ldg(in));
  __stcg(out + 1, __ldca(in + 1));
  __stcs(out + 2, __ldcg(in + 2));
  __stwt(out + 3, __ldcs(in + 3));
  __stwb(out + 4, __ldlu(in + 4));
  __stwb(out + 5, __ldcv(in + 5));
}
template <typename T>
void accesses() {
  check::Managed<T> in(6), out(6);
  for (int i = 0; i < 6; ++i) std::memset(&in[i], 'a' + i, sizeof(T));
  copy_with_hints<<<1, 1>>>(static_cast<const T*>(in), static_cast<T*>(out));
  CUDA_OK(cudaDeviceSynchronize());
  const auto *there = reinterpret_cast<const unsigned char*>(&out[0]),
             *here = reinterpret_cast<const unsigned char*>(&in[0]);
  for (size_t i = 0; i < 6 * sizeof(T); ++i) EXPECT_EQUAL_AT(static_cast<int>(i), there[i], here[i]);
}
CASE(accesses) {
  accesses<__half>(), accesses<__half2>(), accesses<__nv_bfloat16>(), accesses<__nv_bfloat162>();
}

template <typename H>
__global__ void add_one(H* sum, PairOf<H>* sums) {
  atomicAdd(sum, H(1));
  atomicAdd(sums, PairOf<H>(H(1), H(-1)));
}
template <typename H>
void additions() {
  check::Managed<H> sum(2);
  check::Managed<PairOf<H>> sums(1);
  add_one<H><<<4, 64>>>(sum + 1, sums);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(static_cast<float>(sum[0]), 0);
  EXPECT_EQUAL(static_cast<float>(sum[1]), 256);
  EXPECT_EQUAL(static_cast<float>(sums[0].x), 256);
  EXPECT_EQUAL(static_cast<float>(sums[0].y), -256);
}
CASE(additions) {
  FOR_BOTH_TYPES(additions);
}

CHECK_MAIN()
