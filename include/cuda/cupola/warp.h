#pragma once

// Functions over a warp: "CUDA C++ Programming Guide, Warp Vote / Match / Reduce / Shuffle Functions".

#pragma push_macro("CUPOLA_DEVICE")
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))

CUPOLA_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
CUPOLA_DEVICE void __barrier_sync(unsigned int id) { __nvvm_barrier_sync(id); }
CUPOLA_DEVICE void __barrier_sync_count(unsigned int id, unsigned int count) { __nvvm_barrier_sync_cnt(id, count); }

CUPOLA_DEVICE int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
CUPOLA_DEVICE int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
CUPOLA_DEVICE int __uni_sync(unsigned int mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
CUPOLA_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
CUPOLA_DEVICE unsigned int __activemask() { return __nvvm_activemask(); }

// Shuffles. PTX's c operand holds the segment mask (bits 8 to 12) and the clamp: 31, but 0 for up.
#define CUPOLA_SHUFFLE(name, kind, clamp, place)                                                                   \
  CUPOLA_DEVICE int name(unsigned int mask, int value, place from, int width = 32) {                               \
    return __nvvm_shfl_sync_##kind##_i32(mask, value, (int)from, ((32 - width) << 8) | clamp);                     \
  }                                                                                                                \
  CUPOLA_DEVICE unsigned int name(unsigned int mask, unsigned int value, place from, int width = 32) {             \
    return (unsigned int)name(mask, (int)value, from, width);                                                      \
  }                                                                                                                \
  CUPOLA_DEVICE float name(unsigned int mask, float value, place from, int width = 32) {                           \
    return __builtin_bit_cast(float, name(mask, __builtin_bit_cast(int, value), from, width));                     \
  }                                                                                                                \
  CUPOLA_DEVICE unsigned long long name(unsigned int mask, unsigned long long value, place from, int width = 32) { \
    const unsigned int low = name(mask, (unsigned int)value, from, width);                                         \
    const unsigned int high = name(mask, (unsigned int)(value >> 32), from, width);                                \
    return (unsigned long long)high << 32 | low;                                                                   \
  }                                                                                                                \
  CUPOLA_DEVICE long long name(unsigned int mask, long long value, place from, int width = 32) {                   \
    return (long long)name(mask, (unsigned long long)value, from, width);                                          \
  }                                                                                                                \
  CUPOLA_DEVICE unsigned long name(unsigned int mask, unsigned long value, place from, int width = 32) {           \
    return (unsigned long)name(mask, (unsigned long long)value, from, width);                                      \
  }                                                                                                                \
  CUPOLA_DEVICE long name(unsigned int mask, long value, place from, int width = 32) {                             \
    return (long)name(mask, (unsigned long long)value, from, width);                                               \
  }                                                                                                                \
  CUPOLA_DEVICE double name(unsigned int mask, double value, place from, int width = 32) {                         \
    return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(unsigned long long, value), from, width));     \
  }
CUPOLA_SHUFFLE(__shfl_sync, idx, 31, int)
CUPOLA_SHUFFLE(__shfl_up_sync, up, 0, unsigned int)
CUPOLA_SHUFFLE(__shfl_down_sync, down, 31, unsigned int)
CUPOLA_SHUFFLE(__shfl_xor_sync, bfly, 31, int)
#undef CUPOLA_SHUFFLE

#define CUPOLA_MATCH(type, bits, word)                                                         \
  CUPOLA_DEVICE unsigned int __match_any_sync(unsigned int mask, type value) {                 \
    return __nvvm_match_any_sync_##bits(mask, __builtin_bit_cast(word, value));                \
  }                                                                                            \
  CUPOLA_DEVICE unsigned int __match_all_sync(unsigned int mask, type value, int* predicate) { \
    return __nvvm_match_all_sync_##bits##p(mask, __builtin_bit_cast(word, value), predicate);  \
  }
CUPOLA_MATCH(int, i32, unsigned int)
CUPOLA_MATCH(unsigned int, i32, unsigned int)
CUPOLA_MATCH(float, i32, unsigned int)
CUPOLA_MATCH(long, i64, unsigned long long)
CUPOLA_MATCH(unsigned long, i64, unsigned long long)
CUPOLA_MATCH(long long, i64, unsigned long long)
CUPOLA_MATCH(unsigned long long, i64, unsigned long long)
CUPOLA_MATCH(double, i64, unsigned long long)
#undef CUPOLA_MATCH

CUPOLA_DEVICE int __reduce_add_sync(unsigned int mask, int value) { return __nvvm_redux_sync_add(value, (int)mask); }
CUPOLA_DEVICE unsigned int __reduce_add_sync(unsigned int mask, unsigned int value) {
  return (unsigned int)__nvvm_redux_sync_add((int)value, (int)mask);
}
CUPOLA_DEVICE int __reduce_min_sync(unsigned int mask, int value) { return __nvvm_redux_sync_min(value, (int)mask); }
CUPOLA_DEVICE int __reduce_max_sync(unsigned int mask, int value) { return __nvvm_redux_sync_max(value, (int)mask); }
CUPOLA_DEVICE unsigned int __reduce_min_sync(unsigned int mask, unsigned int value) {
  return (unsigned int)__nvvm_redux_sync_umin((int)value, (int)mask);
}
CUPOLA_DEVICE unsigned int __reduce_max_sync(unsigned int mask, unsigned int value) {
  return (unsigned int)__nvvm_redux_sync_umax((int)value, (int)mask);
}
CUPOLA_DEVICE unsigned int __reduce_and_sync(unsigned int mask, unsigned int value) {
  return (unsigned int)__nvvm_redux_sync_and((int)value, (int)mask);
}
CUPOLA_DEVICE unsigned int __reduce_or_sync(unsigned int mask, unsigned int value) {
  return (unsigned int)__nvvm_redux_sync_or((int)value, (int)mask);
}
CUPOLA_DEVICE unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value) {
  return (unsigned int)__nvvm_redux_sync_xor((int)value, (int)mask);
}

#pragma pop_macro("CUPOLA_DEVICE")
