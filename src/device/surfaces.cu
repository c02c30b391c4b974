#include "../image/texture_calls.h"

#include "texels.h"

// Surfaces: "PTX ISA, Surface Instructions". Where words are is said in image/texture_calls.h. Where the documents
// leave something open, GPUs decide: formatted stores of large numbers.

namespace {

using namespace cupola::device;
using Geometry = cupola::image::TextureGeometry;
using Outside = cupola::image::SurfaceOutside;

/// Layers, of which a cube's faces are some.
LOCAL unsigned surface_layers(const Texture& t) {
  return t.is_cube ? 6 * (t.layers ? t.layers : 1) : t.layers;
}

/// The address of an access of `bytes` at the coordinates; 0 where it is dropped. x counts bytes, or texels of
/// formatted accesses.
template <int D, bool kLayered>
LOCAL Address surface_address(const unsigned* words, const Texture& t, unsigned bytes, unsigned x_unit,
                              Outside outside) {
  const long long row = (long long)t.width * texel_bytes(t);
  long long at[3] = {(long long)(int)words[kLayered] * x_unit, D > 1 ? (int)words[1 + kLayered] : 0,
                     D > 2 ? (int)words[2 + kLayered] : 0};
  const long long last[3] = {row - bytes, (long long)t.height - 1, (long long)t.depth - 1};
  if (last[0] < 0) __builtin_trap();
  for (int d = 0; d < D; ++d) {
    if (at[d] >= 0 && at[d] <= last[d]) continue;
    if (outside == Outside::Trap) __builtin_trap();
    if (outside == Outside::Zero) return 0;
    at[d] = at[d] < 0 ? 0 : last[d];
  }
  if (kLayered) {
    const unsigned layers = surface_layers(t);
    if (words[0] >= layers && outside == Outside::Trap) __builtin_trap();
    if (words[0] >= layers && outside == Outside::Zero) return 0;
    at[2] = words[0] < layers ? words[0] : layers ? layers - 1 : 0;
  }
  return t.address + (Address)at[2] * t.slice_pitch + (Address)at[1] * t.row_pitch + (Address)at[0];
}

LOCAL Address surface_place(const unsigned* words, const Texture& t, Geometry geometry, unsigned bytes, unsigned x_unit,
                            Outside outside) {
  switch (geometry) {
#define TEXTURE_GEOMETRY(modifier, name, dimensions, layers) \
  case Geometry::modifier:                                   \
    return surface_address<dimensions, layers>(words, t, bytes, x_unit, outside);
#define TEXTURE_CUBE(modifier, name, layers)  // are surfaces of layers
#define TEXTURE_QUESTION(modifier)
#include "../image/texture_calls.def"
    default:
      __builtin_trap();
  }
}

}  // namespace

/// Where suld.b, sust.b and sured.b find their `bytes`; null where the access is dropped.
NV char* __cupola_ptx_surface_bytes(const unsigned* words, Address object, Geometry geometry, unsigned bytes,
                                    Outside outside) {
  return (char*)surface_place(words, texture_at(object), geometry, bytes, 1, outside);
}
/// Where sured.p finds its texel.
NV char* __cupola_ptx_surface_texel(const unsigned* words, Address object, Geometry geometry, Outside outside) {
  const Texture& t = texture_at(object);
  return (char*)surface_place(words, t, geometry, texel_bytes(t), texel_bytes(t), outside);
}

namespace {

/// What an integer channel holds of a larger number.
LOCAL unsigned saturated(const Texture& t, unsigned word) {
  if (t.channel_bits == 32) return word;
  if (t.channel_kind == ChannelKind::Unsigned) {
    const unsigned most = (1u << t.channel_bits) - 1;
    return word < most ? word : most;
  }
  const int most = (1 << (t.channel_bits - 1)) - 1, number = (int)word;
  return (unsigned)(number > most ? most : number < -most - 1 ? -most - 1 : number);
}

}  // namespace

/// sust.p: the channels are integers or bits of f32, as the surface's are.
NV void __cupola_ptx_surface_store_texel(const unsigned* words, Address object, Geometry geometry, Outside outside) {
  const Texture& t = texture_at(object);
  const Address at = surface_place(words, t, geometry, texel_bytes(t), texel_bytes(t), outside);
  if (!at) return;
  for (unsigned c = 0; c < t.channels; ++c) {
    unsigned word = words[cupola::image::kStoredChannelWord + c];
    if (t.channel_kind != ChannelKind::Float)
      word = saturated(t, word);
    else if (t.channel_bits == 16)
      word = __builtin_bit_cast(unsigned short, (_Float16)from_bits(word));
    if (t.channel_bits == 8)
      ((unsigned char*)at)[c] = (unsigned char)word;
    else if (t.channel_bits == 16)
      ((unsigned short*)at)[c] = (unsigned short)word;
    else
      ((unsigned*)at)[c] = word;
  }
}
