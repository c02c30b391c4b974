// The device code of `cupola selftest`: a kernel or a few for each check, whose results the host works out too.
// Compiled with Cupola to lib/cupola/selftest.fatbin, so that the machine that is tested needs no clang.

#include <cuda_fp16.h>
#include <cassert>
#include <cstdio>

using Word = unsigned;
using Wide = unsigned long long;

__device__ unsigned counted = 5;
__constant__ unsigned table[64] = {1, 4, 9, 16};

__device__ unsigned linear_thread() {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  return block * threads + threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

extern "C" {

// -- memory --

__global__ void plus_one(Word* data, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) ++data[i];
}

/// Follows pointers from one to the next, `steps` times.
__global__ void follow(Wide* const* first, int steps, Wide* out) {
  const Wide* at = *first;
  for (int i = 1; i < steps; ++i) at = reinterpret_cast<const Wide*>(*at);
  *out = *at;
}

__global__ void variables(Word* out) {
  const unsigned i = threadIdx.x;
  out[i] = table[i] + counted;
  __syncthreads();
  if (i == 0) ++counted;
}

__global__ void copy(const uint4* in, uint4* out, int count) {
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += stride) out[i] = in[i];
}

// -- launches --

__global__ void nothing() {}

__global__ void places(Word* out) {
  const unsigned i = linear_thread();
  out[i] = i * 8 + (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z) % 8;
}

struct Mixed {
  char letter;
  double number;
  short half;
};
__global__ void mixed(double* out, char a, Mixed b, short c, float d, Wide e) {
  *out = a + b.letter + b.number + b.half + c + d + static_cast<double>(e);
}

struct Large {
  Word words[1100];
};
__global__ void large(Large given, Word* out) {
  Word sum = 0;
  for (unsigned i = threadIdx.x; i < 1100; i += blockDim.x) sum += given.words[i] * (i + 1);
  out[threadIdx.x] = sum;
}

// -- threads of a block --

__global__ void shared_reversed(Word* data) {
  __shared__ Word fixed[256];
  extern __shared__ Word dynamic[];
  const unsigned i = threadIdx.x, last = blockDim.x - 1;
  fixed[i] = data[i];
  __syncthreads();
  dynamic[last - i] = fixed[last - i] * 3;
  __syncthreads();
  data[i] = dynamic[last - i];
}

__global__ void block_sum(const Word* in, Word* out) {
  __shared__ Word part[1024];
  const unsigned i = threadIdx.x;
  part[i] = in[blockIdx.x * blockDim.x + i];
  for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
    __syncthreads();
    if (i < half) part[i] += part[i + half];
  }
  if (i == 0) out[blockIdx.x] = part[0];
}

/// Threads from `live` on are gone before the barriers; of the others half count at one place and half at another.
__global__ void parted(Word* out, Word live) {
  const unsigned i = threadIdx.x;
  if (i >= live) return;
  int count = 0;
  if (i % 2 == 0)
    count = __syncthreads_count(i < 10);
  else
    count = __syncthreads_count(i < 20);
  out[i] = static_cast<Word>(count);
}

// -- lanes of a warp --

__global__ void lanes(Word* out) {
  Word lane = 0;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  out[threadIdx.x] = lane;
}

__global__ void shuffles(Word* out) {
  const unsigned i = threadIdx.x, mine = i * i + 1, all = 0xffffffff;
  Word* o = out + i * 8;
  o[0] = __shfl_sync(all, mine, static_cast<int>((i * 7) % 32));
  o[1] = __shfl_up_sync(all, mine, 3);
  o[2] = __shfl_down_sync(all, mine, 5);
  o[3] = __shfl_xor_sync(all, mine, 9);
  o[4] = __shfl_sync(all, mine, 2, 8);
  o[5] = __shfl_up_sync(all, mine, 1, 8);
  o[6] = __shfl_down_sync(all, mine, 1, 16);
  o[7] = __shfl_xor_sync(all, mine, 4, 4);
}

__global__ void votes(Word* out) {
  const unsigned i = threadIdx.x, all = 0xffffffff;
  Word* o = out + i * 6;
  o[0] = __ballot_sync(all, i % 3 == 0);
  o[1] = static_cast<Word>(__any_sync(all, i == 17) * 2 + __all_sync(all, i < 32));
  o[2] = __match_any_sync(all, i / 5);
  o[3] = __reduce_add_sync(all, i * i);
  o[4] = 0;
  if (i % 4 < 2) o[4] = __ballot_sync(0x33333333, i % 8 < 3);
  __syncwarp();
  o[5] = static_cast<Word>(__popc(__activemask()));
}

// -- atomics --

__global__ void atomics(Word* words, Wide* wide, float* sum) {
  __shared__ Word local[4];
  const unsigned i = linear_thread();
  if (threadIdx.x < 4) local[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&words[0], i);
  atomicMax(&words[1], i * 7 % 1000);
  atomicMin(reinterpret_cast<int*>(&words[2]), -static_cast<int>(i));
  atomicXor(&words[3], 1u << i % 32);
  for (Word before = words[4], found;; before = found) {
    found = atomicCAS(&words[4], before, before + 3);
    if (found == before) break;
  }
  atomicAdd(&wide[0], Wide{i} << 20);
  atomicMax(&wide[1], Wide{i} << 40 | 5);
  atomicAdd(sum, 0.25f);
  atomicAdd(&local[i % 4], i);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&words[5 + threadIdx.x], local[threadIdx.x]);
}

/// Each word is taken by one thread of all that try once.
__global__ void taken_once(Word* words, Word* times, int count) {
  for (int i = 0; i < count; ++i)
    if (atomicCAS(&words[i], 0u, linear_thread() + 1) == 0) atomicAdd(&times[i], 1u);
}

/// The block that comes last adds up what the others left: a fence of the whole device.
__global__ void last_block_sum(const Word* in, volatile Word* parts, Word* arrived, Word* out) {
  __shared__ bool last;
  atomicAdd(const_cast<Word*>(&parts[blockIdx.x]), in[linear_thread()]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  Word sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];
  *out = sum;
}

// -- arithmetic: out[i] = f(a[i], b[i], c[i]), bits of each --

#define EACH(name, T, expression)                                                  \
  __global__ void name(const T* as, const T* bs, const T* cs, T* out, int count) { \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);         \
    if (i >= count) return;                                                        \
    [[maybe_unused]] const T a = as[i], b = bs[i], c = cs[i];                      \
    out[i] = expression;                                                           \
  }

EACH(f32_add, float, __fadd_rn(a, b))
EACH(f32_multiply, float, __fmul_rn(a, b))
EACH(f32_divide, float, __fdiv_rn(a, b))
EACH(f32_root, float, __fsqrt_rn(a))
EACH(f32_fma, float, __fmaf_rn(a, b, c))
EACH(f32_rint, float, rintf(a))
EACH(f32_floor, float, floorf(a))
EACH(f32_sine, float, sinf(a))
EACH(f32_exponential, float, expf(a))
EACH(f32_logarithm, float, logf(a))
EACH(f32_power, float, powf(a, b))
EACH(f64_add, double, a + b)
EACH(f64_multiply, double, __dmul_rn(a, b))
EACH(f64_divide, double, a / b)
EACH(f64_root, double, sqrt(a))
EACH(f64_fma, double, fma(a, b, c))
EACH(u32_mixed, Word, __umulhi(a, b) ^ (a / (b | 1)) ^ (a % (c | 1)) ^ (b << (c & 31)))
EACH(u32_bits, Word, static_cast<Word>(__popc(a) | __clz(static_cast<int>(b)) << 8) ^ __brev(c))
EACH(u64_mixed, Wide, a* b ^ (a / (b | 1)) ^ (a >> (c & 63)))
EACH(u32_to_half, Word, __half_as_ushort(__float2half(__uint_as_float(a))))
EACH(u32_from_half, Word, __float_as_uint(__half2float(__ushort_as_half(static_cast<unsigned short>(a)))))
EACH(u32_to_int, Word, static_cast<Word>(__float2int_rz(__uint_as_float(a))))
EACH(u64_to_float, Wide, __float_as_uint(__ull2float_rn(a)))

// -- output and errors --

__global__ void say(int n) {
  printf("thread %d of %s: %.3f %llx %c\n", static_cast<int>(threadIdx.x), "the self-test", n * 0.5, 0x123456789abcull,
         'x');
}
__global__ void claim(const int* value) {
  assert(*value == 1);
}
__global__ void stop() {
  if (threadIdx.x == 3) __trap();
}
__global__ void store_at(Wide address) {
  *reinterpret_cast<volatile Word*>(address) = 1;
}
__global__ void endless(volatile Word* word) {
  while (*word == 0) {
  }
}
}

int main() {}
