#pragma once

#include <memory>
#include <new>
#include <vector>

#include "hal/types.h"
#include "image/texture_abi.h"
#include "runtime/context.h"
#include "runtime/device.h"

// What textures and surfaces read: CUDA arrays, and the objects that kernels get.

namespace cupola::runtime {

/// An allocator of memory that a device's kernels reach: the process's own, or the device's where they reach no other.
template <typename T>
class ReachedByKernels {
 public:
  using value_type = T;

  explicit ReachedByKernels(Device& device) : device_(&device) {}
  template <typename U>
  ReachedByKernels(const ReachedByKernels<U>& other)
      : device_(&other.device()) {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) {
    if (reaches_all()) return std::allocator<T>().allocate(count);
    auto block = device_->heap().allocate(count * sizeof(T));
    if (!block) throw std::bad_alloc();
    return reinterpret_cast<T*>(block->release().address);  // NOLINT(performance-no-int-to-ptr)
  }
  void deallocate(T* from, size_t count) {
    if (reaches_all()) return std::allocator<T>().deallocate(from, count);
    [[maybe_unused]] const Result<> freed = device_->heap().free(reinterpret_cast<hal::Address>(from));
  }

  Device& device() const { return *device_; }
  bool operator==(const ReachedByKernels& other) const = default;

 private:
  bool reaches_all() const { return device_->properties().pageable_memory; }

  Device* device_;
};

/// Memory for texels in rows, slices (or layers, or faces of cubes) of rows. Its numbers never change.
struct Array {
  Context* owner;
  hal::Address address;
  uint64_t row_pitch, slice_pitch;  ///< bytes
  uint64_t width, height, depth;    ///< as given: 0 where there is no such dimension
  int format;                       ///< CUarray_format
  unsigned channels;
  unsigned flags;  ///< CUDA_ARRAY3D_*
  uint64_t texel_bytes;
  bool is_level;  ///< of a mipmapped array, with which its handle and memory end

  Context& context() const { return *owner; }
  uint64_t rows() const { return height ? height : 1; }
  uint64_t slices() const { return depth ? depth : 1; }
};

/// Levels of detail, from the finest on: arrays of the same texels in one allocation. Its numbers never change.
struct MipmappedArray {
  Context* owner;
  hal::Address address;
  std::vector<std::shared_ptr<Array>> levels;  ///< which programs reach by their own handles

  Context& context() const { return *owner; }
};

/// A texture or surface object: its handle is its own address, where kernels find the descriptor. It lies in memory
/// that they reach, and the program's addresses are the device's, so that no copy is needed.
struct ImageObject {
  using Levels = std::vector<image::TextureLevel, ReachedByKernels<image::TextureLevel>>;

  explicit ImageObject(Context& context)
      : levels(ReachedByKernels<image::TextureLevel>(context.device())), owner(&context) {}

  image::TextureDescriptor descriptor{};  ///< first
  Levels levels;                          ///< where there are several: the descriptor's table
  Context* owner;

  Context& context() const { return *owner; }
};

}  // namespace cupola::runtime
