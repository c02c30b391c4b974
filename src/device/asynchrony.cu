#include "device.h"

// What the PTX front end calls for cp.async and mbarrier. PTX ISA, "Parallel Synchronization and Communication
// Instructions: mbarrier".
//
// The mbarrier object is opaque to programs. Here, from the low bits up: 20 bits of arrivals that the phase still waits
// for, 20 bits of arrivals that the next phase waits for, 21 bits of transactions (bytes) that are outstanding, signed,
// and 3 bits of the phase's number. A phase ends when it waits for neither arrivals nor transactions. A state, which
// mbarrier.arrive returns, is the object before the arrival.

using u32 = unsigned int;
using u64 = unsigned long long;

namespace {

constexpr u64 kCount = 0xfffff, kTransactions = 0x1fffff;
constexpr int kExpected = 20, kOutstanding = 40, kPhase = 61;

struct Fields {
  u64 pending, expected, outstanding, phase;
};

LOCAL Fields fields_of(u64 word) {
  return {word & kCount, (word >> kExpected) & kCount, (word >> kOutstanding) & kTransactions, word >> kPhase};
}

LOCAL u64 word_of(Fields f) {
  return (f.pending & kCount) | (f.expected & kCount) << kExpected | (f.outstanding & kTransactions) << kOutstanding |
         f.phase << kPhase;
}

LOCAL Fields advanced(Fields f) {
  if ((f.pending & kCount) == 0 && (f.outstanding & kTransactions) == 0) f = {f.expected, f.expected, 0, f.phase + 1};
  return f;
}

LOCAL u64 now(u64* object) {
  return __scoped_atomic_load_n(object, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP);
}

LOCAL bool replace(u64* object, u64& seen, u64 next) {
  return __scoped_atomic_compare_exchange_n(object, &seen, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE,
                                            __MEMORY_SCOPE_WRKGRP);
}

LOCAL bool is_over(u64* object, u64 phase, u32 parity) {
  const u64 current = now(object) >> kPhase;
  return parity ? (current & 1) != (phase & 1) : current != phase >> kPhase;
}

}  // namespace

NV void __cupola_ptx_mbarrier_init(u64* object, u32 count) {
  __scoped_atomic_store_n(object, word_of({count, count, 0, 0}), __ATOMIC_RELEASE, __MEMORY_SCOPE_WRKGRP);
}

/// Expects `bytes` more, then arrives `count` times; `drops`: the following phases wait for that many less; `completes`
/// 0: the phase does not end, by the program's promise.
NV u64 __cupola_ptx_mbarrier_arrive(u64* object, u32 count, u32 bytes, u32 drops, u32 completes) {
  u64 seen = now(object);
  for (;;) {
    Fields f = fields_of(seen);
    f.outstanding += (u64)bytes;
    f.pending -= count;
    if (drops) f.expected -= count;
    if (replace(object, seen, word_of(completes ? advanced(f) : f))) return seen;
  }
}

/// Expects `bytes` more; fewer where it is negative.
NV void __cupola_ptx_mbarrier_transactions(u64* object, u32 bytes) {
  u64 seen = now(object);
  for (;;) {
    Fields f = fields_of(seen);
    f.outstanding += (u64)(long long)(int)bytes;
    if (replace(object, seen, word_of(advanced(f)))) return;
  }
}

/// Whether the phase is over that a state, or a parity, stands for.
NV u32 __cupola_ptx_mbarrier_test_wait(u64* object, u64 phase, u32 parity) {
  return is_over(object, phase, parity);
}

/// Likewise, after the block's other threads ran for a while.
NV u32 __cupola_ptx_mbarrier_try_wait(u64* object, u64 phase, u32 parity) {
  if (is_over(object, phase, parity)) return 1;
  __nvvm_nanosleep(0);
  return is_over(object, phase, parity);
}

NV u32 __cupola_ptx_mbarrier_pending(u64 state) {
  return (u32)(state & kCount);
}

/// Copies `bytes` (4, 8 or 16), of which only the first `given` are read; the rest is zero.
NV void __cupola_ptx_copy_async(void* to, const void* from, u32 bytes, u32 given) {
  u32* words = (u32*)to;
  const u32* source = (const u32*)from;
  if (given >= bytes) {
    for (u32 i = 0; i < bytes / 4; ++i) words[i] = source[i];
    return;
  }
  for (u32 i = 0; i < bytes; ++i) ((unsigned char*)to)[i] = i < given ? ((const unsigned char*)from)[i] : 0;
}
