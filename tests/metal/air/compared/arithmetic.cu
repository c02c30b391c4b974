// What integers and floats become in AIR: each thread writes 32 words.
#include <cuda_fp16.h>

using Wide = unsigned long long;

__device__ unsigned bits(float x) {
  return __float_as_uint(x);
}
__device__ unsigned folded(Wide x) {
  return static_cast<unsigned>(x) ^ static_cast<unsigned>(x >> 32);
}

__device__ unsigned classes(float x) {
  return __builtin_isfpclass(x, 1) | __builtin_isfpclass(x, 2) << 1 | __builtin_isfpclass(x, 4 | 8) << 2 |
         __builtin_isfpclass(x, 16 | 128) << 3 | __builtin_isfpclass(x, 32) << 4 |
         __builtin_isfpclass(x, 64 | 256) << 5 | __builtin_isfpclass(x, 512 | 8) << 6;
}

extern "C" __global__ void k(const unsigned* in, unsigned* out) {
  const unsigned i = threadIdx.x, x = in[i], y = in[(i + 1) % 64];
  const Wide w = Wide{x} << 32 | y;
  const int a = static_cast<int>(x), b = static_cast<int>(y);
  const float f = static_cast<float>(a) / 4096.0f, g = static_cast<float>(b) / 1024.0f;
  const __half h = __float2half(f / 16.0f);
  unsigned* o = out + 32 * i;
  o[0] = __popc(x) | __popcll(w) << 8;
  o[1] = __clz(a) | __clzll(static_cast<long long>(w)) << 8;
  o[2] = __ffs(a) | __ffsll(static_cast<long long>(w & ~Wide{0xFF})) << 8;
  o[3] = __brev(x);
  o[4] = folded(__brevll(w));
  o[5] = __byte_perm(x, y, 0x0123);
  o[6] = __funnelshift_l(x, y, y);
  o[7] = __funnelshift_r(x, y, x);
  o[8] = static_cast<unsigned>(min(a, b)) ^ max(x, y);
  o[9] = folded(static_cast<Wide>(min(static_cast<long long>(w), static_cast<long long>(~w >> 1))));
  o[10] = static_cast<unsigned>(abs(a / 2)) ^ classes(__uint_as_float(x)) << 24;
  o[11] = a / (b | 1);
  o[12] = x % (y | 1);
  o[13] = folded(w / (y | 1)) ^ folded(w % (x | 1));
  o[14] = bits(floorf(f));
  o[15] = bits(ceilf(f));
  o[16] = bits(truncf(f));
  o[17] = bits(rintf(f));
  o[18] = bits(roundf(f));
  o[19] = bits(fabsf(f)) ^ bits(copysignf(g, f));
  o[20] = bits(fminf(f, g));
  o[21] = bits(fmaxf(f, __uint_as_float(x)));
  o[22] = bits(sqrtf(fabsf(f)));
  o[23] = bits(fmaf(f, g, 1.5f));
  o[24] = static_cast<unsigned>(static_cast<int>(f));
  o[25] = folded(static_cast<Wide>(static_cast<long long>(g * 1e6f)));
  o[26] = bits(static_cast<float>(w)) ^ bits(static_cast<float>(static_cast<long long>(w)));
  o[27] = __half_as_ushort(hfloor(h)) | static_cast<unsigned>(__half_as_ushort(hsqrt(__habs(h)))) << 16;
  o[28] = __half_as_ushort(__hfma(h, h, __float2half(0.1f)));
  o[29] = __half_as_ushort(__hmin(h, __float2half(g))) | static_cast<unsigned>(__half_as_ushort(__int2half_rn(b >> 20)))
                                                             << 16;
  o[30] = __dp4a(a, b, 7);
  o[31] = folded(static_cast<Wide>(__double_as_longlong(static_cast<double>(f) * g + 0.1)));
}

int main() {}
