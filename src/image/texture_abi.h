#pragma once

// What a texture or surface object is in memory: the contract between the driver, which fills it in, and the device
// library (src/device/textures.cu), which reads it. The 64-bit object that a program holds is its address. Compiled by
// the host's compiler and for the device; needs no header.

namespace cupola::image {

/// As CUaddress_mode numbers them. Without normalised coordinates there are only Clamp and Border.
enum class Addressing : unsigned char { Wrap, Clamp, Mirror, Border };

enum class ChannelKind : unsigned char { Unsigned, Signed, Float };

struct TextureDescriptor {
  unsigned long long address;      ///< of the first texel
  unsigned long long row_pitch;    ///< bytes from a row to the next
  unsigned long long slice_pitch;  ///< bytes from a slice, layer or face to the next
  unsigned width, height, depth;   ///< texels; 1 where there is no such dimension, and depth where there are layers
  unsigned layers;                 ///< of a layered one; of cubes, those of six faces; else 0
  unsigned char channels;          ///< 1, 2 or 4
  unsigned char channel_bits;      ///< 8, 16 or 32
  ChannelKind channel_kind;
  Addressing addressing[3];
  bool is_linear_filter;    ///< only where a fetch gives floats
  bool is_normalized_read;  ///< integers as floats in [0, 1] or [-1, 1]
  bool has_normalized_coordinates;
  bool is_linear_memory;  ///< reads outside give zero
  bool is_cube;           ///< slices are faces
  unsigned char levels;   ///< of detail; 1
  float border[4];
};

static_assert(sizeof(TextureDescriptor) == 72);
static_assert(__builtin_offsetof(TextureDescriptor, width) == 24);
static_assert(__builtin_offsetof(TextureDescriptor, channels) == 40);
static_assert(__builtin_offsetof(TextureDescriptor, border) == 52);

}  // namespace cupola::image
