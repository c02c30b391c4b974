#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "hash.h"

namespace bench {

/// Managed memory that kernels, OpenMP loops and OpenCL kernels work on alike: all versions of a case see the same
/// pages.
template <typename T>
class Array {
 public:
  /// `count` elements, element i being value(i).
  template <typename F>
  Array(size_t count, F value) : count_(count) {
    if (cudaMallocManaged(&data_, count * sizeof(T)) != cudaSuccess) {
      std::fprintf(stderr, "no memory for %zu elements\n", count);
      std::exit(1);
    }
    for (size_t i = 0; i < count; ++i) data_[i] = static_cast<T>(value(i));
  }
  explicit Array(size_t count) : Array(count, [](size_t) { return T{}; }) {}
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  operator T*() const { return data_; }  // as a kernel's and a function's argument
  T* data() const { return data_; }
  size_t size() const { return count_; }
  size_t bytes() const { return count_ * sizeof(T); }
  /// The same memory as elements of another type, float4 for example.
  template <typename U>
  U* as() const {
    return reinterpret_cast<U*>(data_);
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

/// Element i of data that is spread evenly over [low, high).
inline auto spread(float low, float high) {
  return
      [=](size_t i) { return low + (high - low) * static_cast<float>(hash(static_cast<unsigned>(i)) >> 8) * 0x1p-24f; };
}

}  // namespace bench
