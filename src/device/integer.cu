#include "device.h"

// Integer functions: "CUDA Math API, Integer Intrinsics". Sums wrap.

using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

NV int __nv_abs(int x) {
  return x < 0 ? (int)(0u - (u32)x) : x;
}
NV i64 __nv_llabs(i64 x) {
  return x < 0 ? (i64)(0ull - (u64)x) : x;
}
NV int __nv_min(int a, int b) {
  return a < b ? a : b;
}
NV int __nv_max(int a, int b) {
  return a > b ? a : b;
}
NV u32 __nv_umin(u32 a, u32 b) {
  return a < b ? a : b;
}
NV u32 __nv_umax(u32 a, u32 b) {
  return a > b ? a : b;
}
NV i64 __nv_llmin(i64 a, i64 b) {
  return a < b ? a : b;
}
NV i64 __nv_llmax(i64 a, i64 b) {
  return a > b ? a : b;
}
NV u64 __nv_ullmin(u64 a, u64 b) {
  return a < b ? a : b;
}
NV u64 __nv_ullmax(u64 a, u64 b) {
  return a > b ? a : b;
}

NV int __nv_brev(int x) {
  return (int)__builtin_bitreverse32((u32)x);
}
NV i64 __nv_brevll(i64 x) {
  return (i64)__builtin_bitreverse64((u64)x);
}
NV int __nv_popc(u32 x) {
  return __builtin_popcount(x);
}
NV int __nv_popcll(u64 x) {
  return __builtin_popcountll(x);
}
NV int __nv_clz(int x) {
  return x ? __builtin_clz((u32)x) : 32;
}
NV int __nv_clzll(i64 x) {
  return x ? __builtin_clzll((u64)x) : 64;
}
NV int __nv_ffs(int x) {
  return x ? __builtin_ctz((u32)x) + 1 : 0;
}
NV int __nv_ffsll(i64 x) {
  return x ? __builtin_ctzll((u64)x) + 1 : 0;
}

/// Byte i of the result is byte (selector >> 4i) & 7 of y:x; with bit 3 of a selector set, its sign, repeated.
NV int __nv_byte_perm(int x, int y, int selector) {
  const u64 bytes = (u64)(u32)y << 32 | (u32)x;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 choice = (u32)selector >> (4 * i);
    u32 byte = (u32)(bytes >> (8 * (choice & 7))) & 0xff;
    if (choice & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return (int)result;
}

NV int __nv_mulhi(int a, int b) {
  return (int)((i64)a * b >> 32);
}
NV u32 __nv_umulhi(u32 a, u32 b) {
  return (u32)((u64)a * b >> 32);
}
NV u64 __nv_umul64hi(u64 a, u64 b) {
  const u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
  const u64 middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (u32)middle;
  return a1 * b1 + (middle >> 32) + (other >> 32);
}
NV i64 __nv_mul64hi(i64 a, i64 b) {
  return (i64)(__nv_umul64hi((u64)a, (u64)b) - (a < 0 ? (u64)b : 0) - (b < 0 ? (u64)a : 0));
}
/// Product of the low 24 bits.
NV int __nv_mul24(int a, int b) {
  return (int)(((u32)a << 8 >> 8 | (a & 0x800000 ? 0xff000000u : 0)) *
               ((u32)b << 8 >> 8 | (b & 0x800000 ? 0xff000000u : 0)));
}
NV u32 __nv_umul24(u32 a, u32 b) {
  return (a & 0xffffff) * (b & 0xffffff);
}

NV int __nv_hadd(int a, int b) {
  return (int)(((i64)a + b) >> 1);
}
NV int __nv_rhadd(int a, int b) {
  return (int)(((i64)a + b + 1) >> 1);
}
NV int __nv_uhadd(u32 a, u32 b) {
  return (int)(((u64)a + b) >> 1);
}
NV u32 __nv_urhadd(u32 a, u32 b) {
  return (u32)(((u64)a + b + 1) >> 1);
}
NV int __nv_sad(int a, int b, int c) {
  return (int)((u32)c + (a > b ? (u32)a - (u32)b : (u32)b - (u32)a));
}
NV u32 __nv_usad(u32 a, u32 b, u32 c) {
  return c + (a > b ? a - b : b - a);
}
