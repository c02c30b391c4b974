#pragma once

// What a texture or surface object is in memory: the contract between the driver, which fills it in, and the device
// library (src/device/textures.cu, surfaces.cu), which reads it. The 64-bit object that a program holds is its address.
// Compiled by the host's compiler and for the device; needs no header.

namespace cupola::image {

/// As CUaddress_mode numbers them. Without normalised coordinates there are only Clamp and Border.
enum class Addressing : unsigned char { Wrap, Clamp, Mirror, Border };

enum class ChannelKind : unsigned char { Unsigned, Signed, Float };

/// Texels in rows, and rows in slices.
struct TextureLevel {
  unsigned long long address;      ///< of the first texel
  unsigned long long row_pitch;    ///< bytes from a row to the next
  unsigned long long slice_pitch;  ///< bytes from a slice, layer or face to the next
  unsigned width, height, depth;   ///< texels; 1 where there is no such dimension, and depth where there are layers
  unsigned layers;                 ///< of a layered one; of cubes, those of six faces; else 0
};

/// A texture is its level of detail zero, and how it is read.
struct TextureDescriptor : TextureLevel {
  unsigned long long level_table;  ///< where there are several: the address of as many TextureLevels
  unsigned char levels;
  unsigned char channels;      ///< 1, 2 or 4
  unsigned char channel_bits;  ///< 8, 16 or 32
  ChannelKind channel_kind;
  Addressing addressing[3];
  bool is_linear_filter;         ///< only where a fetch gives floats
  bool is_linear_mipmap_filter;  ///< between levels; only where a fetch gives floats
  bool is_normalized_read;       ///< integers as floats in [0, 1] or [-1, 1]
  bool is_srgb;                  ///< the first three channels; only 8 bits, unsigned and normalised
  bool has_normalized_coordinates;
  bool is_linear_memory;  ///< reads outside give zero
  bool is_cube;           ///< slices are faces
  bool is_seamless;       ///< a filter goes on across the edges of a cube
  float level_bias;       ///< added to a level that is asked for, which is then brought
  float least_level;      ///< between these two; both are levels that there are
  float most_level;
  float border[4];
};

static_assert(sizeof(TextureLevel) == 40);
static_assert(sizeof(TextureDescriptor) == 96);

}  // namespace cupola::image
