// What the functions of AIR mean on the double's machine: those of src/backend/metal/build/air/air_functions.def and no
// others, so that a program which calls another one does not link. Linked with each program. Integers below 32 bits are
// unsigned here: callers extend them by zeroes.

#include <metal_stdlib>

namespace metal {
extern "C" {
Machine* cupola_machine;
const Gathered* cupola_gather(ulong value) {
  return cupola_machine->gather(__builtin_frame_address(0), value);
}
void cupola_barrier() {
  cupola_machine->barrier(__builtin_frame_address(0));
}
}
}  // namespace metal

using namespace metal;

/// A function of AIR and its body.
#define AIR(result, name, label, parameters)              \
  extern "C" result air_##name parameters __asm__(label); \
  result air_##name parameters

// -- threads that meet --

AIR(void, wg_barrier, "air.wg.barrier", (uint, uint)) {
  cupola_barrier();
}
AIR(void, simdgroup_barrier, "air.simdgroup.barrier", (uint, uint)) {
  cupola_gather(0);
}
AIR(uint, simd_shuffle, "air.simd_shuffle.u.i32", (uint value, ushort lane)) {
  return simd_shuffle(value, lane);
}
AIR(ulong, simd_ballot, "air.simd_ballot.i64", (bool predicate)) {
  return ulong(simd_ballot(predicate));
}

// -- atomics: of words, relaxed; no compare-exchange fails by chance (docs/metallib.md) --

AIR(void, fence, "air.atomic.fence", (uint, uint, uint)) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#define FETCH(space, memory, name, label, type, result)               \
  AIR(uint, memory##_##name, "air.atomic." #memory "." label ".i32",  \
      (volatile space uint * word, uint operand, uint, uint, bool)) { \
    const type before = type(*word), value = type(operand);           \
    *word = uint(result);                                             \
    return uint(before);                                              \
  }
#define ATOMICS(space, memory)                                                                                  \
  AIR(uint, memory##_load, "air.atomic." #memory ".load.i32", (volatile space uint * word, uint, uint, bool)) { \
    cupola_machine->yield();                                                                                    \
    return *word;                                                                                               \
  }                                                                                                             \
  AIR(void, memory##_store, "air.atomic." #memory ".store.i32",                                                 \
      (volatile space uint * word, uint value, uint, uint, bool)) {                                             \
    *word = value;                                                                                              \
  }                                                                                                             \
  AIR(uint, memory##_exchange, "air.atomic." #memory ".xchg.i32",                                               \
      (volatile space uint * word, uint value, uint, uint, bool)) {                                             \
    cupola_machine->yield();                                                                                    \
    const uint before = *word;                                                                                  \
    *word = value;                                                                                              \
    return before;                                                                                              \
  }                                                                                                             \
  AIR(uint, memory##_compare, "air.atomic." #memory ".cmpxchg.weak.i32",                                        \
      (volatile space uint * word, uint * expected, uint desired, uint, uint, uint, bool)) {                    \
    cupola_machine->yield();                                                                                    \
    const uint found = *word;                                                                                   \
    if (found == *expected) *word = desired;                                                                    \
    *expected = found;                                                                                          \
    return found;                                                                                               \
  }                                                                                                             \
  FETCH(space, memory, add, "add.u", uint, before + value)                                                      \
  FETCH(space, memory, sub, "sub.u", uint, before - value)                                                      \
  FETCH(space, memory, and, "and.u", uint, before& value)                                                       \
  FETCH(space, memory, or, "or.u", uint, before | value)                                                        \
  FETCH(space, memory, xor, "xor.u", uint, before ^ value)                                                      \
  FETCH(space, memory, umin, "min.u", uint, value < before ? value : before)                                    \
  FETCH(space, memory, umax, "max.u", uint, value > before ? value : before)                                    \
  FETCH(space, memory, min, "min.s", int, value < before ? value : before)                                      \
  FETCH(space, memory, max, "max.s", int, value > before ? value : before)
ATOMICS(device, global)
ATOMICS(threadgroup, local)

// -- integers --

AIR(uint, clz, "air.clz.i32", (uint x, bool)) {
  return clz(x);
}
AIR(uint, ctz, "air.ctz.i32", (uint x, bool)) {
  return ctz(x);
}
AIR(uint, popcount, "air.popcount.i32", (uint x)) {
  return popcount(x);
}
AIR(uint, reverse_bits, "air.reverse_bits.i32", (uint x)) {
  return reverse_bits(x);
}

// -- floating point --

AIR(float, fma, "air.fma.f32", (float a, float b, float c)) {
  return fma(a, b, c);
}
AIR(half, fma_half, "air.fma.f16", (half a, half b, half c)) {
  return fma(a, b, c);
}
AIR(float, sqrt, "air.sqrt.f32", (float x)) {
  return precise::sqrt(x);
}
AIR(float, floor, "air.floor.f32", (float x)) {
  return floor(x);
}
AIR(float, ceil, "air.ceil.f32", (float x)) {
  return ceil(x);
}
AIR(float, trunc, "air.trunc.f32", (float x)) {
  return trunc(x);
}
AIR(float, rint, "air.rint.f32", (float x)) {
  return rint(x);
}
AIR(float, round, "air.round.f32", (float x)) {
  return round(x);
}
AIR(float, fabs, "air.fabs.f32", (float x)) {
  return fabs(x);
}
AIR(float, fmod, "air.fmod.f32", (float a, float b)) {
  return fmod(a, b);
}

// -- conversions: of floats that do not fit nothing is promised, and what a program does with them is meant to be seen

AIR(float, f32_u_i1, "air.convert.f.f32.u.i1", (bool x)) {
  return x;
}
AIR(half, f16_u_i1, "air.convert.f.f16.u.i1", (bool x)) {
  return x;
}

typedef signed char schar;
#define CONVERSIONS(U, S, number, T, word)                                   \
  AIR(T, word##_u_##number, "air.convert.f." #word ".u." #number, (U x)) {   \
    return T(x);                                                             \
  }                                                                          \
  AIR(T, word##_s_##number, "air.convert.f." #word ".s." #number, (U x)) {   \
    return T(S(x));                                                          \
  }                                                                          \
  AIR(U, u_##number##_##word, "air.convert.u." #number ".f." #word, (T x)) { \
    return U(x);                                                             \
  }                                                                          \
  AIR(U, s_##number##_##word, "air.convert.s." #number ".f." #word, (T x)) { \
    return U(S(x));                                                          \
  }
CONVERSIONS(uchar, schar, i8, float, f32)
CONVERSIONS(ushort, short, i16, float, f32)
CONVERSIONS(uint, int, i32, float, f32)
CONVERSIONS(ulong, long, i64, float, f32)
CONVERSIONS(uchar, schar, i8, half, f16)
CONVERSIONS(ushort, short, i16, half, f16)
CONVERSIONS(uint, int, i32, half, f16)
CONVERSIONS(ulong, long, i64, half, f16)
