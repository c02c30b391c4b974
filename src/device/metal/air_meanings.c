// What the calls of raised code mean on Metal, for AIR: lib/cupola/air.bc, from which src/backend/metal/build/air links
// what a kernel uses. A function that means the call "metal.x" or "cupola.x" has the name "meaning.metal.x", takes the
// thread first and then what the call takes. The meanings are those of src/backend/metal/build/msl/helpers.def, line by
// line.

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long long ulong;
typedef long long slong;

// Metal's memory, by AIR's numbers; thread memory has none.
#define device __attribute__((address_space(1)))
#define constant __attribute__((address_space(2)))
#define threadgroup __attribute__((address_space(3)))

#define MEANS(name) __asm__("meaning." name)
#define AIR(name) __asm__("air." name) __attribute__((convergent))

// src/image/metal_abi.h says what these are.
struct Launch {
#define METAL_LAUNCH(type, name, meaning) type name;
#include "../../image/metal_launch.def"
#undef METAL_LAUNCH
};

struct Thread {
  uint tid[3], ntid[3], ctaid[3], nctaid[3];
  uint lane, warp, warps;
  constant uchar* parameters;
  constant struct Launch* launch;
  device uchar* module_data;
  threadgroup uchar* shared;
  threadgroup uint* words;
  uchar* stack;
};
typedef const struct Thread* T;

// -- AIR's functions: air_functions.def has where they come from. Order 0 is relaxed, 5 sequentially consistent; scope
// 1 a threadgroup, 2 the device; flags 1 device memory, 2 threadgroup memory.
void wg_barrier(uint flags, uint scope) AIR("wg.barrier");
void simdgroup_barrier(uint flags, uint scope) AIR("simdgroup.barrier");
void atomic_fence(uint flags, uint order, uint scope) AIR("atomic.fence");
uint simd_shuffle(uint value, ushort lane) AIR("simd_shuffle.u.i32");
ulong simd_ballot(_Bool predicate) AIR("simd_ballot.i64");
uint global_load(device uint*, uint order, uint scope, _Bool is_volatile) AIR("atomic.global.load.i32");
void global_store(device uint*, uint, uint order, uint scope, _Bool is_volatile) AIR("atomic.global.store.i32");
uint global_add(device uint*, uint, uint order, uint scope, _Bool is_volatile) AIR("atomic.global.add.u.i32");
uint global_exchange(device uint*, uint* expected, uint desired, uint order, uint failure, uint scope,
                     _Bool is_volatile) AIR("atomic.global.cmpxchg.weak.i32");
uint local_load(threadgroup uint*, uint order, uint scope, _Bool is_volatile) AIR("atomic.local.load.i32");
void local_store(threadgroup uint*, uint, uint order, uint scope, _Bool is_volatile) AIR("atomic.local.store.i32");
uint local_add(threadgroup uint*, uint, uint order, uint scope, _Bool is_volatile) AIR("atomic.local.add.u.i32");
uint local_sub(threadgroup uint*, uint, uint order, uint scope, _Bool is_volatile) AIR("atomic.local.sub.u.i32");
uint local_exchange(threadgroup uint*, uint* expected, uint desired, uint order, uint failure, uint scope,
                    _Bool is_volatile) AIR("atomic.local.cmpxchg.weak.i32");
uint air_clz(uint, _Bool) AIR("clz.i32");
uint air_ctz(uint, _Bool) AIR("ctz.i32");
uint air_popcount(uint) AIR("popcount.i32");
uint air_reverse_bits(uint) AIR("reverse_bits.i32");

// -- what a thread knows --

/// Fills the kernel's Thread in: the first thing that a kernel does.
void begin(struct Thread* t, constant uchar* parameters, constant struct Launch* launch, threadgroup uchar* shared,
           threadgroup uint* words, uchar* stack, uint tid_x, uint tid_y, uint tid_z, uint ntid_x, uint ntid_y,
           uint ntid_z, uint ctaid_x, uint ctaid_y, uint ctaid_z, uint nctaid_x, uint nctaid_y, uint nctaid_z,
           uint lane, uint warp, uint warps) MEANS("begin");
void begin(struct Thread* t, constant uchar* parameters, constant struct Launch* launch, threadgroup uchar* shared,
           threadgroup uint* words, uchar* stack, uint tid_x, uint tid_y, uint tid_z, uint ntid_x, uint ntid_y,
           uint ntid_z, uint ctaid_x, uint ctaid_y, uint ctaid_z, uint nctaid_x, uint nctaid_y, uint nctaid_z,
           uint lane, uint warp, uint warps) {
  t->tid[0] = tid_x, t->tid[1] = tid_y, t->tid[2] = tid_z;
  t->ntid[0] = ntid_x, t->ntid[1] = ntid_y, t->ntid[2] = ntid_z;
  t->ctaid[0] = ctaid_x, t->ctaid[1] = ctaid_y, t->ctaid[2] = ctaid_z;
  t->nctaid[0] = nctaid_x, t->nctaid[1] = nctaid_y, t->nctaid[2] = nctaid_z;
  t->lane = lane, t->warp = warp, t->warps = warps;
  t->parameters = parameters;
  t->launch = launch;
  t->module_data = (device uchar*)launch->module_data;
  t->shared = shared;
  t->words = words;
  t->stack = stack;
}

#define FACT(type, name, label, value) \
  type name(T t) MEANS(label);         \
  type name(T t) {                     \
    return value;                      \
  }

FACT(uint, tid_x, "cupola.tid.x", t->tid[0])
FACT(uint, tid_y, "cupola.tid.y", t->tid[1])
FACT(uint, tid_z, "cupola.tid.z", t->tid[2])
FACT(uint, ntid_x, "cupola.ntid.x", t->ntid[0])
FACT(uint, ntid_y, "cupola.ntid.y", t->ntid[1])
FACT(uint, ntid_z, "cupola.ntid.z", t->ntid[2])
FACT(uint, ctaid_x, "cupola.ctaid.x", t->ctaid[0])
FACT(uint, ctaid_y, "cupola.ctaid.y", t->ctaid[1])
FACT(uint, ctaid_z, "cupola.ctaid.z", t->ctaid[2])
FACT(uint, nctaid_x, "cupola.nctaid.x", t->nctaid[0])
FACT(uint, nctaid_y, "cupola.nctaid.y", t->nctaid[1])
FACT(uint, nctaid_z, "cupola.nctaid.z", t->nctaid[2])
FACT(uint, lane_id, "cupola.laneid", t->lane)
FACT(uint, warp_id, "cupola.warpid", t->warp)
FACT(uint, nwarp_id, "cupola.nwarpid", t->warps)
FACT(uint, sm_id, "cupola.smid", ((void)t, 0))
FACT(uint, nsm_id, "cupola.nsmid", ((void)t, 1))
FACT(ulong, grid_id, "cupola.gridid", t->launch->grid)
FACT(uint, dynamic_shared_bytes, "cupola.dynamic_shared_bytes", t->launch->dynamic_shared_bytes)
FACT(uint, total_shared_bytes, "cupola.total_shared_bytes", t->launch->total_shared_bytes)
FACT(uint, grid_is_cooperative, "cupola.grid.is_cooperative", t->launch->cooperative)
FACT(constant uchar*, parameters, "metal.parameters", t->parameters)
FACT(device uchar*, module_data, "metal.module_data", t->module_data)
FACT(threadgroup uchar*, shared, "metal.shared", t->shared)
FACT(threadgroup uchar*, dynamic_shared, "metal.dynamic_shared", t->shared + t->launch->dynamic_shared)
FACT(uchar*, stack, "metal.stack", t->stack)
FACT(uint, turn, "metal.turn", t->launch->turn)

// -- addresses: programs know memory by those that the host has for it --
ulong to_host(T t, device uchar* p) MEANS("metal.to_host");
ulong to_host(T t, device uchar* p) {
  return (ulong)p - t->launch->arena;
}
device uchar* from_host(T t, ulong address) MEANS("metal.from_host");
device uchar* from_host(T t, ulong address) {
  return (device uchar*)(address + t->launch->arena);
}
uint shared_offset(T t, threadgroup uchar* p) MEANS("metal.shared_offset");
uint shared_offset(T t, threadgroup uchar* p) {
  return (uint)((ulong)p - (ulong)t->shared);
}
threadgroup uchar* shared_at(T t, uint offset) MEANS("metal.shared_at");
threadgroup uchar* shared_at(T t, uint offset) {
  return t->shared + offset;
}
uint stack_offset(T t, uchar* p) MEANS("metal.stack_offset");
uint stack_offset(T t, uchar* p) {
  return (uint)((ulong)p - (ulong)t->stack);
}
uchar* stack_at(T t, uint offset) MEANS("metal.stack_at");
uchar* stack_at(T t, uint offset) {
  return t->stack + offset;
}

// -- memory --

/// AIR's compare-exchange gives what the word held; it was exchanged if that is what was expected.
uint device_compare_exchange(T t, device uint* word, uint expected, uint desired) MEANS("exchange.device");
uint device_compare_exchange(T t, device uint* word, uint expected, uint desired) {
  (void)t;
  uint found = expected;
  return global_exchange(word, &found, desired, 0, 0, 2, 1);
}
uint shared_compare_exchange(T t, threadgroup uint* word, uint expected, uint desired) MEANS("exchange.shared");
uint shared_compare_exchange(T t, threadgroup uint* word, uint expected, uint desired) {
  (void)t;
  uint found = expected;
  return local_exchange(word, &found, desired, 0, 0, 1, 1);
}

static ulong updated(uint kind, ulong before, ulong value, ulong expected) {
  switch (kind) {
    case 0:
      return value;
    case 1:
      return before == expected ? value : before;
    case 2:
      return before + value;
    case 3:
      return before - value;
    case 4:
      return before & value;
    case 5:
      return before | value;
    case 6:
      return before ^ value;
    case 7:
      return (slong)before < (slong)value ? before : value;
    case 8:
      return (slong)before > (slong)value ? before : value;
    case 9:
      return before < value ? before : value;
    default:
      return before > value ? before : value;
  }
}

/// Under a lock of device memory: AIR has no atomics of 64 bits but minimum and maximum.
#define LOCKED_BY(name, space, scope)                                                                          \
  static ulong name##_locked_by(device uint* lock, space uint* word, uint kind, ulong value, ulong expected) { \
    ulong before = 0;                                                                                          \
    for (_Bool done = 0; !done;) {                                                                             \
      uint none = 0;                                                                                           \
      if (global_exchange(lock, &none, 1, 0, 0, 2, 1) == 0) {                                                  \
        atomic_fence(3, 5, 2);                                                                                 \
        before = name##_load(word, 0, scope, 1) | (ulong)name##_load(word + 1, 0, scope, 1) << 32;             \
        const ulong after = updated(kind, before, value, expected);                                            \
        name##_store(word, (uint)after, 0, scope, 1);                                                          \
        name##_store(word + 1, (uint)(after >> 32), 0, scope, 1);                                              \
        atomic_fence(3, 5, 2);                                                                                 \
        global_store(lock, 0, 0, 2, 1);                                                                        \
        done = 1;                                                                                              \
      }                                                                                                        \
    }                                                                                                          \
    return before;                                                                                             \
  }
LOCKED_BY(global, device, 2)
LOCKED_BY(local, threadgroup, 1)

ulong device_locked(T t, device uint* word, uint kind, ulong value, ulong expected) MEANS("locked.device");
ulong device_locked(T t, device uint* word, uint kind, ulong value, ulong expected) {
  return global_locked_by((device uint*)t->launch->locks + ((ulong)word >> 3 & 1023), word, kind, value, expected);
}
ulong shared_locked(T t, threadgroup uint* word, uint kind, ulong value, ulong expected) MEANS("locked.shared");
ulong shared_locked(T t, threadgroup uint* word, uint kind, ulong value, ulong expected) {
  const ulong place = ((ulong)word - (ulong)t->shared) >> 3;
  return local_locked_by((device uint*)t->launch->locks + ((place + t->ctaid[0] * 31) & 1023), word, kind, value,
                         expected);
}

// -- the end --
static _Bool claims_fault(T t, uint kind, uint detail) {
  device uint* words = (device uint*)t->launch->faults;
  uint none = 0;
  if (global_exchange(words, &none, kind, 0, 0, 2, 1) != 0) return 0;
  for (uint i = 0; i < 3; ++i) words[1 + i] = t->ctaid[i], words[4 + i] = t->tid[i];
  words[7] = detail;
  return 1;
}
void trap(T t) MEANS("cupola.trap");
void trap(T t) {
  claims_fault(t, 1, 0);
}
void exit_thread(T t) MEANS("cupola.exit");
void exit_thread(T t) {
  (void)t;
}
void nanosleep_(T t, uint time) MEANS("cupola.nanosleep");
void nanosleep_(T t, uint time) {
  (void)t, (void)time;
}
void assert_failed(T t, ulong message, ulong file, uint line, ulong name) MEANS("metal.assert_failed");
void assert_failed(T t, ulong message, ulong file, uint line, ulong name) {
  if (!claims_fault(t, 2, line)) return;
  device ulong* texts = (device ulong*)(t->launch->faults + 32);
  texts[0] = message, texts[1] = file, texts[2] = name;
}
void fail(T t, uint kind, ulong word) MEANS("metal.fail");
void fail(T t, uint kind, ulong word) {
  if (claims_fault(t, kind, 0)) ((device ulong*)(t->launch->faults + 32))[0] = word;
}
void print(T t, ulong format, uchar* values, uint bytes) MEANS("metal.print");
void print(T t, ulong format, uchar* values, uint bytes) {
  device uint* used = (device uint*)t->launch->output;
  const uint room = used[1], words = (bytes + 7) / 8, size = 16 + words * 8;
  const uint place = global_add(used, size, 0, 2, 1);
  if (place > room || size > room - place) return;
  device ulong* record = (device ulong*)(t->launch->output + 16 + place);
  record[0] = format;
  record[1] = bytes;
  for (uint i = 0; i < bytes; ++i) ((device uchar*)(record + 2))[i] = values[i];
}

// -- lanes of a warp --
static uint ballot(_Bool predicate) {
  return (uint)simd_ballot(predicate);
}
static uint active_lanes(void) {
  return ballot(1);
}
uint active_mask(T t) MEANS("cupola.active_mask");
uint active_mask(T t) {
  return (void)t, active_lanes();
}
void warp_sync(T t, uint mask) MEANS("cupola.warp_sync");
void warp_sync(T t, uint mask) {
  (void)t, (void)mask;
  simdgroup_barrier(3, 1);
}
ulong shuffle(T t, uint mask, uint kind, uint value, uint b, uint c) MEANS("cupola.shuffle");
ulong shuffle(T t, uint mask, uint kind, uint value, uint b, uint c) {
  (void)mask;
  const uint segments = (c >> 8) & 31, lane = t->lane, distance = b & 31;
  const uint last = (lane & segments) | (c & 31 & ~segments);
  uint from = 0;
  _Bool inside = 0;
  switch (kind) {
    case 0:
      from = lane - distance, inside = (int)from >= (int)last;
      break;
    case 1:
      from = lane + distance, inside = from <= last;
      break;
    case 2:
      from = lane ^ distance, inside = from <= last;
      break;
    default:
      from = (lane & segments) | (distance & ~segments), inside = from <= last;
      break;
  }
  const uint got = simd_shuffle(value, (ushort)(inside ? from : lane));
  return (ulong)got | (inside ? 1ull << 32 : 0ull);
}
uint vote(T t, uint mask, uint kind, uint predicate) MEANS("cupola.vote");
uint vote(T t, uint mask, uint kind, uint predicate) {
  (void)t;
  switch (kind) {
    case 0:
      return (ballot(predicate == 0) & mask) == 0;
    case 1:
      return (ballot(predicate != 0) & mask) != 0;
    case 2: {
      const uint yes = ballot(predicate != 0) & mask, no = ballot(predicate == 0) & mask;
      return yes == 0 || no == 0;
    }
    default:
      return ballot(predicate != 0) & mask;
  }
}
ulong match(T t, uint mask, uint kind, ulong value) MEANS("cupola.match");
ulong match(T t, uint mask, uint kind, ulong value) {
  (void)t;
  mask &= active_lanes();
  uint same = 0;
  for (ushort lane = 0; lane < 32; ++lane) {
    const ulong other = (ulong)simd_shuffle((uint)value, lane) | (ulong)simd_shuffle((uint)(value >> 32), lane) << 32;
    if ((mask >> lane & 1) != 0 && other == value) same |= 1u << lane;
  }
  if (kind == 0) return same;
  return same == mask ? (ulong)mask | 1ull << 32 : 0ull;
}
uint redux(T t, uint mask, uint kind, uint value) MEANS("cupola.redux");
uint redux(T t, uint mask, uint kind, uint value) {
  mask &= active_lanes();
  uint all = value;
  for (ushort lane = 0; lane < 32; ++lane) {
    const uint other = simd_shuffle(value, lane);
    if ((mask >> lane & 1) == 0 || lane == t->lane) continue;
    switch (kind) {
      case 0:
        all += other;
        break;
      case 1:
        all = (int)all < (int)other ? all : other;
        break;
      case 2:
        all = (int)all > (int)other ? all : other;
        break;
      case 3:
        all = all < other ? all : other;
        break;
      case 4:
        all = all > other ? all : other;
        break;
      case 5:
        all &= other;
        break;
      case 6:
        all |= other;
        break;
      default:
        all ^= other;
        break;
    }
  }
  return all;
}

// -- threads of a block; raised code has barriers of all of the block's threads only --
static void block_barrier(void) {
  wg_barrier(3, 1);
}
static uint block_threads(T t) {
  return t->ntid[0] * t->ntid[1] * t->ntid[2];
}
static _Bool is_first(T t) {
  return (t->tid[0] | t->tid[1] | t->tid[2]) == 0;
}
void barrier(T t, uint id, uint count) MEANS("cupola.barrier");
void barrier(T t, uint id, uint count) {
  (void)t, (void)id, (void)count;
  block_barrier();
}
uint barrier_reduce(T t, uint id, uint threads, uint kind, uint predicate) MEANS("cupola.barrier_reduce");
uint barrier_reduce(T t, uint id, uint threads, uint kind, uint predicate) {
  (void)id, (void)threads;
  block_barrier();
  if (is_first(t)) local_store(t->words, 0, 0, 1, 1);
  block_barrier();
  if (predicate != 0) local_add(t->words, 1, 0, 1, 1);
  block_barrier();
  const uint count = local_load(t->words, 0, 1, 1);
  return kind == 0 ? count : kind == 1 ? count == block_threads(t) : count != 0;
}

void publish(T t, uchar* words, uchar* all, uint count) MEANS("metal.publish");
void publish(T t, uchar* words, uchar* all, uint count) {
  (void)t;
  for (uint word = 0; word < count; ++word)
    for (ushort lane = 0; lane < 32; ++lane)
      ((uint*)all)[lane * count + word] = simd_shuffle(((uint*)words)[word], lane);
}

// Of the words the first says how many threads have not left, the others are the sums of the phases.
void begin_meetings(T t) MEANS("metal.begin_meetings");
void begin_meetings(T t) {
  if (is_first(t)) {
    t->words[0] = block_threads(t);
    t->words[1] = t->words[2] = t->words[3] = 0;
  }
  block_barrier();
}
void leave_meetings(T t) MEANS("metal.leave_meetings");
void leave_meetings(T t) {
  local_sub(t->words, 1, 0, 1, 1);
}
void add_to_meeting(T t, uint phase, uint number) MEANS("metal.add_to_meeting");
void add_to_meeting(T t, uint phase, uint number) {
  local_add(t->words + 1 + phase, number, 0, 1, 1);
}
ulong meet(T t, uint phase) MEANS("metal.meet");
ulong meet(T t, uint phase) {
  block_barrier();
  const uint live = t->words[0], sum = t->words[1 + phase];
  t->words[1 + (phase == 2 ? 0 : phase + 1)] = 0;
  block_barrier();
  return (ulong)live << 32 | sum;
}

// The block's sixteen barriers: two words each, how many came, and their votes.
void begin_barriers(T t, uint place) MEANS("metal.begin_barriers");
void begin_barriers(T t, uint place) {
  if (t->launch->turn != 0 || !is_first(t)) return;
  for (uint i = 0; i < 32; ++i) ((threadgroup uint*)(t->shared + place))[i] = 0;
}
void arrive_at(T t, uint place, uint barrier, uint vote) MEANS("metal.arrive_at");
void arrive_at(T t, uint place, uint barrier, uint vote) {
  threadgroup uint* words = (threadgroup uint*)(t->shared + place) + 2 * barrier;
  local_add(words, 1, 0, 1, 1);
  local_add(words + 1, vote, 0, 1, 1);
}
ulong meet_at(T t, uint phase, uint place, uint barrier, uint count) MEANS("metal.meet_at");
ulong meet_at(T t, uint phase, uint place, uint barrier, uint count) {
  threadgroup uint* words = (threadgroup uint*)(t->shared + place) + 2 * (barrier & 15);
  block_barrier();
  const uint live = t->words[0], came = words[0], votes = words[1];
  t->words[1 + (phase == 2 ? 0 : phase + 1)] = 0;
  const _Bool complete = barrier < 16 ? came >= (count == 0 ? live : count) : barrier == 16;
  block_barrier();
  if (complete && barrier < 16) words[0] = words[1] = 0;
  if (complete) local_add(t->words + 1 + phase, 1, 0, 1, 1);
  block_barrier();
  const uint sum = t->words[1 + phase];
  return (ulong)(live | (complete ? 4096u : 0u) | ((sum & 0xffff) != 0) << 13 | sum >> 16 << 16) << 32 | votes;
}

// What is kept from launch to launch: src/image/metal_abi.h, SavedHeader.
static ulong block_number(T t) {
  return ((ulong)t->ctaid[2] * t->nctaid[1] + t->ctaid[1]) * t->nctaid[0] + t->ctaid[0];
}
static uint thread_number(T t) {
  return (t->tid[2] * t->ntid[1] + t->tid[1]) * t->ntid[0] + t->tid[0];
}
static device uint* saved_shared(T t, ulong block) {
  return (device uint*)(t->launch->saved + 16 + block * t->launch->total_shared_bytes);
}
device uchar* saved(T t, uint bytes) MEANS("metal.saved");
device uchar* saved(T t, uint bytes) {
  const ulong place = block_number(t) * block_threads(t) + thread_number(t);
  return (device uchar*)saved_shared(t, (ulong)t->nctaid[0] * t->nctaid[1] * t->nctaid[2]) + place * bytes;
}
void take_shared(T t) MEANS("metal.take_shared");
void take_shared(T t) {
  if (t->launch->turn == 0) return;
  const device uint* from = saved_shared(t, block_number(t));
  for (uint i = thread_number(t); i < t->launch->total_shared_bytes / 4; i += block_threads(t))
    ((threadgroup uint*)t->shared)[i] = from[i];
}
void keep_shared(T t) MEANS("metal.keep_shared");
void keep_shared(T t) {
  device uint* to = saved_shared(t, block_number(t));
  for (uint i = thread_number(t); i < t->launch->total_shared_bytes / 4; i += block_threads(t))
    to[i] = ((threadgroup uint*)t->shared)[i];
  if (is_first(t)) global_store((device uint*)t->launch->saved, 1, 0, 2, 1);
}

// -- arithmetic --
uint dot4(T t, uint kind, uint a, uint b, uint c) MEANS("cupola.dot4");
uint dot4(T t, uint kind, uint a, uint b, uint c) {
  (void)t;
  for (uint i = 0; i < 32; i += 8) {
    const uint x = (kind & 1) != 0 ? (uint)(int)(signed char)(a >> i) : a >> i & 255;
    const uint y = (kind & 2) != 0 ? (uint)(int)(signed char)(b >> i) : b >> i & 255;
    c += x * y;
  }
  return c;
}
uint dot2(T t, uint kind, uint a, uint b, uint c) MEANS("cupola.dot2");
uint dot2(T t, uint kind, uint a, uint b, uint c) {
  (void)t;
  for (uint i = 0; i < 2; ++i) {
    const uint x = (kind & 1) != 0 ? (uint)(int)(short)(a >> 16 * i) : a >> 16 * i & 65535;
    const uint y = (kind & 2) != 0 ? (uint)(int)(signed char)(b >> 8 * i) : b >> 8 * i & 255;
    c += x * y;
  }
  return c;
}

// LLVM's functions of integers, on 64 bits; the printer widens what is narrower and takes the excess away.
#define LOW(x) ((uint)(x))
#define HIGH(x) ((uint)((x) >> 32))
ulong count_ones(T t, ulong x) MEANS("llvm.ctpop");
ulong count_ones(T t, ulong x) {
  return (void)t, (ulong)(air_popcount(LOW(x)) + air_popcount(HIGH(x)));
}
ulong leading_zeros(T t, ulong x) MEANS("llvm.ctlz");
ulong leading_zeros(T t, ulong x) {
  return (void)t, (ulong)(HIGH(x) ? air_clz(HIGH(x), 0) : 32 + air_clz(LOW(x), 0));
}
ulong trailing_zeros(T t, ulong x) MEANS("llvm.cttz");
ulong trailing_zeros(T t, ulong x) {
  return (void)t, (ulong)(LOW(x) ? air_ctz(LOW(x), 0) : 32 + air_ctz(HIGH(x), 0));
}
ulong reversed(T t, ulong x) MEANS("llvm.bitreverse");
ulong reversed(T t, ulong x) {
  return (void)t, (ulong)air_reverse_bits(LOW(x)) << 32 | (ulong)air_reverse_bits(HIGH(x));
}
ulong byte_swap(T t, ulong x) MEANS("llvm.bswap");
ulong byte_swap(T t, ulong x) {
  (void)t;
  ulong swapped = 0;
  for (uint i = 0; i < 64; i += 8) swapped |= (x >> i & 255) << (56 - i);
  return swapped;
}

// LLVM's functions of floats: "minnum" and its like take the number where one is not a number; -0 is below 0.
static _Bool sign_of(float x) {
  union {
    float number;
    uint bits;
  } both = {x};
  return both.bits >> 31 != 0;
}
float minimum(T t, float a, float b) MEANS("llvm.minimum");
float minimum(T t, float a, float b) {
  (void)t;
  return a != a ? a : b != b ? b : a == b ? (sign_of(a) ? a : b) : a < b ? a : b;
}
float maximum(T t, float a, float b) MEANS("llvm.maximum");
float maximum(T t, float a, float b) {
  (void)t;
  return a != a ? a : b != b ? b : a == b ? (sign_of(a) ? b : a) : a > b ? a : b;
}
float minimum_number(T t, float a, float b) MEANS("llvm.minimumnum");
float minimum_number(T t, float a, float b) {
  return a != a ? b : b != b ? a : minimum(t, a, b);
}
float maximum_number(T t, float a, float b) MEANS("llvm.maximumnum");
float maximum_number(T t, float a, float b) {
  return a != a ? b : b != b ? a : maximum(t, a, b);
}

// By powers of two in steps, as a number of theirs may be no float: what is below the least normal number is rounded
// once, in the last.
static float power_of_two(int power) {
  union {
    uint bits;
    float number;
  } both = {(uint)(power + 127) << 23};
  return both.number;
}
float scaled(T t, float x, int power) MEANS("llvm.ldexp");
float scaled(T t, float x, int power) {
  (void)t;
  for (uint i = 0; i < 2 && power > 127; ++i) x *= power_of_two(127), power -= 127;
  for (uint i = 0; i < 2 && power < -126; ++i) x *= power_of_two(-102), power += 102;
  return x * power_of_two(power > 127 ? 127 : power < -126 ? -126 : power);
}
