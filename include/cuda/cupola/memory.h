#pragma once

// Loads and stores with cache hints, and address space queries: "CUDA C++ Programming Guide, Read-Only Data Cache Load
// Function, Load and Store Functions Using Cache Hints, Address Space Predicate and Conversion Functions". A hint
// changes no value, so these are plain accesses; only __ldcv and __stwt, which promise to reach memory, are volatile.

#pragma push_macro("CUPOLA_DEVICE")
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))

#define CUPOLA_CACHE_HINTS(type)                                             \
  CUPOLA_DEVICE type __ldg(const type* address) { return *address; }         \
  CUPOLA_DEVICE type __ldca(const type* address) { return *address; }        \
  CUPOLA_DEVICE type __ldcg(const type* address) { return *address; }        \
  CUPOLA_DEVICE type __ldcs(const type* address) { return *address; }        \
  CUPOLA_DEVICE type __ldlu(const type* address) { return *address; }        \
  CUPOLA_DEVICE void __stwb(type* address, type value) { *address = value; } \
  CUPOLA_DEVICE void __stcg(type* address, type value) { *address = value; } \
  CUPOLA_DEVICE void __stcs(type* address, type value) { *address = value; }
#define CUPOLA_CACHE_HINTS_1(type)                                                          \
  CUPOLA_CACHE_HINTS(type)                                                                  \
  CUPOLA_DEVICE type __ldcv(const type* address) { return *(const volatile type*)address; } \
  CUPOLA_DEVICE void __stwt(type* address, type value) { *(volatile type*)address = value; }
#define CUPOLA_CACHE_HINTS_2(type)                                                                      \
  CUPOLA_CACHE_HINTS(type)                                                                              \
  CUPOLA_DEVICE type __ldcv(const type* address) { return {__ldcv(&address->x), __ldcv(&address->y)}; } \
  CUPOLA_DEVICE void __stwt(type* address, type value) { __stwt(&address->x, value.x), __stwt(&address->y, value.y); }
#define CUPOLA_CACHE_HINTS_4(type)                                                               \
  CUPOLA_CACHE_HINTS(type)                                                                       \
  CUPOLA_DEVICE type __ldcv(const type* address) {                                               \
    return {__ldcv(&address->x), __ldcv(&address->y), __ldcv(&address->z), __ldcv(&address->w)}; \
  }                                                                                              \
  CUPOLA_DEVICE void __stwt(type* address, type value) {                                         \
    __stwt(&address->x, value.x), __stwt(&address->y, value.y);                                  \
    __stwt(&address->z, value.z), __stwt(&address->w, value.w);                                  \
  }

CUPOLA_CACHE_HINTS_1(char)
CUPOLA_CACHE_HINTS_1(signed char)
CUPOLA_CACHE_HINTS_1(short)
CUPOLA_CACHE_HINTS_1(int)
CUPOLA_CACHE_HINTS_1(long)
CUPOLA_CACHE_HINTS_1(long long)
CUPOLA_CACHE_HINTS_1(unsigned char)
CUPOLA_CACHE_HINTS_1(unsigned short)
CUPOLA_CACHE_HINTS_1(unsigned int)
CUPOLA_CACHE_HINTS_1(unsigned long)
CUPOLA_CACHE_HINTS_1(unsigned long long)
CUPOLA_CACHE_HINTS_1(float)
CUPOLA_CACHE_HINTS_1(double)
CUPOLA_CACHE_HINTS_2(char2)
CUPOLA_CACHE_HINTS_2(uchar2)
CUPOLA_CACHE_HINTS_2(short2)
CUPOLA_CACHE_HINTS_2(ushort2)
CUPOLA_CACHE_HINTS_2(int2)
CUPOLA_CACHE_HINTS_2(uint2)
CUPOLA_CACHE_HINTS_2(longlong2)
CUPOLA_CACHE_HINTS_2(ulonglong2)
CUPOLA_CACHE_HINTS_2(float2)
CUPOLA_CACHE_HINTS_2(double2)
CUPOLA_CACHE_HINTS_4(char4)
CUPOLA_CACHE_HINTS_4(uchar4)
CUPOLA_CACHE_HINTS_4(short4)
CUPOLA_CACHE_HINTS_4(ushort4)
CUPOLA_CACHE_HINTS_4(int4)
CUPOLA_CACHE_HINTS_4(uint4)
CUPOLA_CACHE_HINTS_4(float4)
#undef CUPOLA_CACHE_HINTS
#undef CUPOLA_CACHE_HINTS_1
#undef CUPOLA_CACHE_HINTS_2
#undef CUPOLA_CACHE_HINTS_4

CUPOLA_DEVICE unsigned int __isGlobal(const void* pointer) { return __nvvm_isspacep_global(pointer); }
CUPOLA_DEVICE unsigned int __isShared(const void* pointer) { return __nvvm_isspacep_shared(pointer); }
CUPOLA_DEVICE unsigned int __isConstant(const void* pointer) { return __nvvm_isspacep_const(pointer); }
CUPOLA_DEVICE unsigned int __isLocal(const void* pointer) { return __nvvm_isspacep_local(pointer); }
CUPOLA_DEVICE unsigned int __isGridConstant(const void*) { return 0; }

#define CUPOLA_CONVERT_ADDRESS(name, space)                                    \
  CUPOLA_DEVICE size_t __cvta_generic_to_##name(const void* pointer) {         \
    return (size_t)(const void __attribute__((address_space(space)))*)pointer; \
  }                                                                            \
  CUPOLA_DEVICE void* __cvta_##name##_to_generic(size_t address) {             \
    return (void*)(void __attribute__((address_space(space)))*)address;        \
  }
CUPOLA_CONVERT_ADDRESS(global, 1)
CUPOLA_CONVERT_ADDRESS(shared, 3)
CUPOLA_CONVERT_ADDRESS(constant, 4)
CUPOLA_CONVERT_ADDRESS(local, 5)
#undef CUPOLA_CONVERT_ADDRESS

#pragma pop_macro("CUPOLA_DEVICE")
