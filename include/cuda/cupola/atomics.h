#pragma once

// Atomic functions: "CUDA C++ Programming Guide, Atomic Functions". Relaxed; name_block orders within the block,
// name_system with the host too. Each becomes one atomicrmw or cmpxchg instruction of kir.

#pragma push_macro("CUPOLA_DEVICE")
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))

#define CUPOLA_ATOMIC_RMW(name, operation, type, suffix, scope)                  \
  CUPOLA_DEVICE type name##suffix(type* address, type value) {                   \
    return __scoped_atomic_##operation(address, value, __ATOMIC_RELAXED, scope); \
  }
// A float exchanged is a word exchanged.
#define CUPOLA_ATOMIC_EXCHANGE(type, suffix, scope)                           \
  CUPOLA_DEVICE type atomicExch##suffix(type* address, type value) {          \
    type old;                                                                 \
    __scoped_atomic_exchange(address, &value, &old, __ATOMIC_RELAXED, scope); \
    return old;                                                               \
  }
#define CUPOLA_ATOMIC_CAS(type, suffix, scope)                                                                      \
  CUPOLA_DEVICE type atomicCAS##suffix(type* address, type compare, type value) {                                   \
    __scoped_atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope); \
    return compare;                                                                                                 \
  }
#define CUPOLA_ATOMICS(suffix, scope)                                                          \
  CUPOLA_ATOMIC_RMW(atomicAdd, fetch_add, int, suffix, scope)                                  \
  CUPOLA_ATOMIC_RMW(atomicAdd, fetch_add, unsigned int, suffix, scope)                         \
  CUPOLA_ATOMIC_RMW(atomicAdd, fetch_add, unsigned long long, suffix, scope)                   \
  CUPOLA_ATOMIC_RMW(atomicAdd, fetch_add, float, suffix, scope)                                \
  CUPOLA_ATOMIC_RMW(atomicAdd, fetch_add, double, suffix, scope)                               \
  CUPOLA_ATOMIC_RMW(atomicSub, fetch_sub, int, suffix, scope)                                  \
  CUPOLA_ATOMIC_RMW(atomicSub, fetch_sub, unsigned int, suffix, scope)                         \
  CUPOLA_ATOMIC_RMW(atomicMin, fetch_min, int, suffix, scope)                                  \
  CUPOLA_ATOMIC_RMW(atomicMin, fetch_min, unsigned int, suffix, scope)                         \
  CUPOLA_ATOMIC_RMW(atomicMin, fetch_min, long long, suffix, scope)                            \
  CUPOLA_ATOMIC_RMW(atomicMin, fetch_min, unsigned long long, suffix, scope)                   \
  CUPOLA_ATOMIC_RMW(atomicMax, fetch_max, int, suffix, scope)                                  \
  CUPOLA_ATOMIC_RMW(atomicMax, fetch_max, unsigned int, suffix, scope)                         \
  CUPOLA_ATOMIC_RMW(atomicMax, fetch_max, long long, suffix, scope)                            \
  CUPOLA_ATOMIC_RMW(atomicMax, fetch_max, unsigned long long, suffix, scope)                   \
  CUPOLA_ATOMIC_RMW(atomicAnd, fetch_and, int, suffix, scope)                                  \
  CUPOLA_ATOMIC_RMW(atomicAnd, fetch_and, unsigned int, suffix, scope)                         \
  CUPOLA_ATOMIC_RMW(atomicAnd, fetch_and, long long, suffix, scope)                            \
  CUPOLA_ATOMIC_RMW(atomicAnd, fetch_and, unsigned long long, suffix, scope)                   \
  CUPOLA_ATOMIC_RMW(atomicOr, fetch_or, int, suffix, scope)                                    \
  CUPOLA_ATOMIC_RMW(atomicOr, fetch_or, unsigned int, suffix, scope)                           \
  CUPOLA_ATOMIC_RMW(atomicOr, fetch_or, long long, suffix, scope)                              \
  CUPOLA_ATOMIC_RMW(atomicOr, fetch_or, unsigned long long, suffix, scope)                     \
  CUPOLA_ATOMIC_RMW(atomicXor, fetch_xor, int, suffix, scope)                                  \
  CUPOLA_ATOMIC_RMW(atomicXor, fetch_xor, unsigned int, suffix, scope)                         \
  CUPOLA_ATOMIC_RMW(atomicXor, fetch_xor, long long, suffix, scope)                            \
  CUPOLA_ATOMIC_RMW(atomicXor, fetch_xor, unsigned long long, suffix, scope)                   \
  CUPOLA_ATOMIC_EXCHANGE(int, suffix, scope)                                                   \
  CUPOLA_ATOMIC_EXCHANGE(unsigned int, suffix, scope)                                          \
  CUPOLA_ATOMIC_EXCHANGE(unsigned long long, suffix, scope)                                    \
  CUPOLA_ATOMIC_EXCHANGE(float, suffix, scope)                                                 \
  CUPOLA_ATOMIC_CAS(int, suffix, scope)                                                        \
  CUPOLA_ATOMIC_CAS(unsigned int, suffix, scope)                                               \
  CUPOLA_ATOMIC_CAS(unsigned short, suffix, scope)                                             \
  CUPOLA_ATOMIC_CAS(unsigned long long, suffix, scope)                                         \
  /* Inc and Dec wrap at the given value; clang's builtin has one scope, the widest. */        \
  CUPOLA_DEVICE unsigned int atomicInc##suffix(unsigned int* address, unsigned int value) {    \
    return __nvvm_atom_inc_gen_ui(address, value);                                             \
  }                                                                                            \
  CUPOLA_DEVICE unsigned int atomicDec##suffix(unsigned int* address, unsigned int value) {    \
    return __nvvm_atom_dec_gen_ui(address, value);                                             \
  }                                                                                            \
  /* Vectors: each component is atomic, the whole is not. */                                   \
  CUPOLA_DEVICE float2 atomicAdd##suffix(float2* address, float2 value) {                      \
    return {atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y)}; \
  }                                                                                            \
  CUPOLA_DEVICE float4 atomicAdd##suffix(float4* address, float4 value) {                      \
    return {atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y),  \
            atomicAdd##suffix(&address->z, value.z), atomicAdd##suffix(&address->w, value.w)}; \
  }

CUPOLA_ATOMICS(, __MEMORY_SCOPE_DEVICE)
CUPOLA_ATOMICS(_block, __MEMORY_SCOPE_WRKGRP)
CUPOLA_ATOMICS(_system, __MEMORY_SCOPE_SYSTEM)

// The generic functions that newer compilers have ("CUDA C++ Programming Guide, Atomic Functions"). The scope is an
// optional last argument; the widest is always right.
#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_THREAD __MEMORY_SCOPE_SINGLE
#define __NV_THREAD_SCOPE_BLOCK __MEMORY_SCOPE_WRKGRP
#define __NV_THREAD_SCOPE_CLUSTER __MEMORY_SCOPE_DEVICE
#define __NV_THREAD_SCOPE_DEVICE __MEMORY_SCOPE_DEVICE
#define __NV_THREAD_SCOPE_SYSTEM __MEMORY_SCOPE_SYSTEM
#define __nv_atomic_load(address, result, order, ...) \
  __scoped_atomic_load(address, result, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_load_n(address, order, ...) __scoped_atomic_load_n(address, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_store(address, value, order, ...) \
  __scoped_atomic_store(address, value, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_store_n(address, value, order, ...) \
  __scoped_atomic_store_n(address, value, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_exchange(address, value, result, order, ...) \
  __scoped_atomic_exchange(address, value, result, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_exchange_n(address, value, order, ...) \
  __scoped_atomic_exchange_n(address, value, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_compare_exchange(address, expected, desired, weak, success, failure, ...) \
  __scoped_atomic_compare_exchange(address, expected, desired, weak, success, failure, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_compare_exchange_n(address, expected, desired, weak, success, failure, ...) \
  __scoped_atomic_compare_exchange_n(address, expected, desired, weak, success, failure, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_fetch_add(address, value, order, ...) \
  __scoped_atomic_fetch_add(address, value, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_fetch_sub(address, value, order, ...) \
  __scoped_atomic_fetch_sub(address, value, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_fetch_and(address, value, order, ...) \
  __scoped_atomic_fetch_and(address, value, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_fetch_or(address, value, order, ...) \
  __scoped_atomic_fetch_or(address, value, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_fetch_xor(address, value, order, ...) \
  __scoped_atomic_fetch_xor(address, value, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_fetch_min(address, value, order, ...) \
  __scoped_atomic_fetch_min(address, value, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_fetch_max(address, value, order, ...) \
  __scoped_atomic_fetch_max(address, value, order, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_add(...) ((void)__nv_atomic_fetch_add(__VA_ARGS__))
#define __nv_atomic_sub(...) ((void)__nv_atomic_fetch_sub(__VA_ARGS__))
#define __nv_atomic_and(...) ((void)__nv_atomic_fetch_and(__VA_ARGS__))
#define __nv_atomic_or(...) ((void)__nv_atomic_fetch_or(__VA_ARGS__))
#define __nv_atomic_xor(...) ((void)__nv_atomic_fetch_xor(__VA_ARGS__))
#define __nv_atomic_min(...) ((void)__nv_atomic_fetch_min(__VA_ARGS__))
#define __nv_atomic_max(...) ((void)__nv_atomic_fetch_max(__VA_ARGS__))
#define __nv_atomic_thread_fence(order, ...) __scoped_atomic_thread_fence(order, __MEMORY_SCOPE_SYSTEM)

#undef CUPOLA_ATOMICS
#undef CUPOLA_ATOMIC_CAS
#undef CUPOLA_ATOMIC_EXCHANGE
#undef CUPOLA_ATOMIC_RMW
#pragma pop_macro("CUPOLA_DEVICE")
