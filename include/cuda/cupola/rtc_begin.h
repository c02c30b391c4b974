#pragma once

// What code that is compiled at run time has instead of the standard headers: "NVRTC, Language", Predefined Types and
// Builtin Functions. Names of the C library that stand for no builtin of CUDA C++ stay free, because programs define
// them for themselves (int64_t, INT_MAX, NAN, std::numeric_limits).

#include <stddef.h>

#include "../host_defines.h"

typedef long clock_t;
typedef __builtin_va_list va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_copy(to, from) __builtin_va_copy(to, from)

__host__ __device__ inline constexpr void* operator new(size_t, void* place) noexcept { return place; }
__host__ __device__ inline constexpr void* operator new[](size_t, void* place) noexcept { return place; }
__host__ __device__ inline void operator delete(void*, void*) noexcept {}
__host__ __device__ inline void operator delete[](void*, void*) noexcept {}

namespace std {

using ::ptrdiff_t;
using ::size_t;
typedef decltype(nullptr) nullptr_t;

// --builtin-initializer-list=false and --builtin-move-forward=false leave these to the program's headers.
#ifndef CUPOLA_RTC_NO_INITIALIZER_LIST
#define __NV_BUILTIN_INITIALIZER_LIST 1
template <class T>
class initializer_list {
 public:
  typedef T value_type;
  typedef const T& reference;
  typedef const T& const_reference;
  typedef size_t size_type;
  typedef const T* iterator;
  typedef const T* const_iterator;

  __host__ __device__ constexpr initializer_list() noexcept : first_(nullptr), size_(0) {}
  __host__ __device__ constexpr size_t size() const noexcept { return size_; }
  __host__ __device__ constexpr const T* begin() const noexcept { return first_; }
  __host__ __device__ constexpr const T* end() const noexcept { return first_ + size_; }

 private:
  const T* first_;
  size_t size_;
};
template <class T>
__host__ __device__ constexpr const T* begin(initializer_list<T> list) noexcept {
  return list.begin();
}
template <class T>
__host__ __device__ constexpr const T* end(initializer_list<T> list) noexcept {
  return list.end();
}
#endif

#ifndef CUPOLA_RTC_NO_MOVE_FORWARD
#define __NV_BUILTIN_MOVE_FORWARD 1
template <class T>
struct __cupola_bare {
  typedef T type;
};
template <class T>
struct __cupola_bare<T&> {
  typedef T type;
};
template <class T>
struct __cupola_bare<T&&> {
  typedef T type;
};
template <class T>
__host__ __device__ constexpr typename __cupola_bare<T>::type&& move(T&& value) noexcept {
  return static_cast<typename __cupola_bare<T>::type&&>(value);
}
template <class T>
__host__ __device__ constexpr T&& forward(typename __cupola_bare<T>::type& value) noexcept {
  return static_cast<T&&>(value);
}
template <class T>
__host__ __device__ constexpr T&& forward(typename __cupola_bare<T>::type&& value) noexcept {
  return static_cast<T&&>(value);
}
#endif

}  // namespace std
