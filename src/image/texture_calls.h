#pragma once

// How PTX's texture and surface instructions call the device library: the contract between ptx/lower/textures.cpp and
// src/device/textures.cu, surfaces.cu. Compiled by the host's compiler and for the device; needs no header.

namespace cupola::image {

enum class TextureGeometry : unsigned {
#define TEXTURE_GEOMETRY(modifier, name, dimensions, layers) modifier,
#define TEXTURE_CUBE(modifier, name, layers) modifier,
#define TEXTURE_QUESTION(modifier)
#include "texture_calls.def"
};

enum class TextureQuestion : unsigned {
#define TEXTURE_GEOMETRY(modifier, name, dimensions, layers)
#define TEXTURE_CUBE(modifier, name, layers)
#define TEXTURE_QUESTION(modifier) modifier,
#include "texture_calls.def"
};

/// What becomes of an access outside a surface.
enum class SurfaceOutside : unsigned { Trap, Clamp, Zero };

// The words that go to the library: the coordinates come first as PTX lists them, a layer before them. The four
// channels of a fetch come back in their place.
constexpr unsigned kOffsetWord = 4;  ///< of three
constexpr unsigned kLevelWord = 7;   ///< of detail
constexpr unsigned kGradientWords[] = {8, 12};
constexpr unsigned kStoredChannelWord = 4;  ///< of sust.p, of four

}  // namespace cupola::image
