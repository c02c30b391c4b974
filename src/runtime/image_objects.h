#pragma once

#include <memory>
#include <vector>

#include "hal/types.h"
#include "image/texture_abi.h"

// What textures and surfaces read: CUDA arrays, and the objects that kernels get.

namespace cupola::runtime {

class Context;

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

/// A texture or surface object: its handle is its own address, where kernels find the descriptor. The program's
/// addresses are the device's, so that no copy is needed.
struct ImageObject {
  image::TextureDescriptor descriptor{};    ///< first
  std::vector<image::TextureLevel> levels;  ///< where there are several: the descriptor's table
  Context* owner = nullptr;

  Context& context() const { return *owner; }
};

}  // namespace cupola::runtime
