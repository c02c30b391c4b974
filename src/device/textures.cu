#include "../image/texture_abi.h"
#include "device.h"

// Textures and surfaces: "CUDA C++ Programming Guide, Texture Fetching" and "PTX ISA, Texture Instructions, Surface
// Instructions". Names and arguments are the contract with ptx/lower/textures.cpp.
//
// The coordinates come in words 0 to 3 as PTX lists them (a layer first), offsets in words 4 to 6; the four channels of
// the result replace the coordinates. What a texel has no channel for reads as 0. Where the documents leave something
// open, GPUs decide: borders of integers, directions between two faces of a cube, formatted stores of large numbers.

namespace {

using namespace cupola::device;
using cupola::image::Addressing;
using cupola::image::ChannelKind;
using Texture = cupola::image::TextureDescriptor;
using Address = unsigned long long;

LOCAL const Texture& texture_at(Address object) {
  return *(const Texture*)object;
}

LOCAL unsigned texel_bytes(const Texture& t) {
  return t.channels * t.channel_bits / 8u;
}

// -- channels --

/// An integer channel in [0, 1] or [-1, 1]. Both ends of a signed one are -1.
LOCAL float normalized(int value, bool is_signed, unsigned bits) {
  const float largest = (float)((1u << (is_signed ? bits - 1 : bits)) - 1);
  const float quotient = (float)value / largest;
  return quotient < -1.0f ? -1.0f : quotient;
}

LOCAL unsigned read_channel(const Texture& t, Address at) {
  unsigned word = t.channel_bits == 8    ? *(const unsigned char*)at
                  : t.channel_bits == 16 ? *(const unsigned short*)at
                                         : *(const unsigned*)at;
  if (t.channel_kind == ChannelKind::Float)
    return t.channel_bits == 32 ? word : bits((float)__builtin_bit_cast(_Float16, (unsigned short)word));
  const bool is_signed = t.channel_kind == ChannelKind::Signed;
  const unsigned unused = 32u - t.channel_bits;
  if (is_signed) word = (unsigned)((int)(word << unused) >> unused);
  return t.is_normalized_read ? bits(normalized((int)word, is_signed, t.channel_bits)) : word;
}

/// A channel of the border: for integers the low bits of the float, for normalised ones what the channel can hold.
LOCAL unsigned border_channel(const Texture& t, float value) {
  const bool is_signed = t.channel_kind == ChannelKind::Signed;
  if (t.is_normalized_read) {
    const float largest = (float)((1u << (is_signed ? t.channel_bits - 1 : t.channel_bits)) - 1);
    const float least = is_signed ? -1.0f : 0.0f;
    const float clamped = value > 1.0f ? 1.0f : value > least ? value : least;
    return bits((float)(int)(clamped * largest) / largest);
  }
  if (t.channel_kind == ChannelKind::Float) return bits(value);
  const unsigned unused = 32u - t.channel_bits, top = bits(value) << unused;
  return is_signed ? (unsigned)((int)top >> unused) : top >> unused;
}

struct Texel {
  unsigned channel[4];
};

LOCAL Texel border_of(const Texture& t) {
  Texel result{};
  for (unsigned c = 0; c < t.channels; ++c) result.channel[c] = border_channel(t, t.border[c]);
  return result;
}

/// The texel at indices inside the texture.
LOCAL Texel texel_at(const Texture& t, int x, int y, int z) {
  const Address at =
      t.address + (unsigned)z * t.slice_pitch + (unsigned)y * t.row_pitch + (Address)(unsigned)x * texel_bytes(t);
  Texel result{};
  for (unsigned c = 0; c < t.channels; ++c) result.channel[c] = read_channel(t, at + c * (t.channel_bits / 8u));
  return result;
}

// -- addressing --

/// A coordinate in texels. Normalised ones are brought into [0, 1] first where the texture repeats.
LOCAL float in_texels(const Texture& t, float x, unsigned size, Addressing mode) {
  if (t.has_normalized_coordinates) {
    const float whole = __builtin_floorf(x), part = x - whole;
    if (mode == Addressing::Wrap) x = part;
    if (mode == Addressing::Mirror) x = __builtin_floorf(whole * 0.5f) * 2.0f == whole ? part : 1.0f - part;
    x *= (float)size;
  }
  const float most = 4194304.0f;  // far outside of any texture, and a 256th of it is an integer
  return x != x ? 0.0f : x > most ? most : x < -most ? -most : x;
}

/// The index that the mode makes of one; -1 for the border.
LOCAL int resolved(int i, unsigned size, Addressing mode) {
  const int n = (int)size;
  if (i >= 0 && i < n) return i;
  if (mode == Addressing::Border) return -1;
  if (mode == Addressing::Clamp) return i < 0 ? 0 : n - 1;
  const int period = mode == Addressing::Wrap ? n : 2 * n;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - 1 - i;
}

/// A place: texel indices, and for the filter the weights of the next ones.
struct Place {
  int index[3];
  float weight[3];
  int slice;  ///< of layers and faces
};

template <int D>
LOCAL Texel point(const Texture& t, const int (&index)[3], int slice) {
  int i[3] = {0, 0, slice};
  const unsigned size[3] = {t.width, t.height, t.depth};
  for (int d = 0; d < D; ++d) {
    i[d] = resolved(index[d], size[d], t.addressing[d]);
    if (i[d] < 0) return border_of(t);
  }
  return texel_at(t, i[0], i[1], i[2]);
}

/// Weights have 8 bits of fraction.
template <int D>
LOCAL void place_for_filter(Place& place, const float (&x)[3], const int* offsets) {
  for (int d = 0; d < D; ++d) {
    const int fixed = (int)__builtin_floorf(x[d] * 256.0f + 0.5f) - 128;
    place.index[d] = (fixed >> 8) + offsets[d];
    place.weight[d] = (float)(fixed & 255) / 256.0f;
  }
}

template <int D>
LOCAL Texel filtered(const Texture& t, const Place& place) {
  float sum[4] = {};
  for (int corner = 0; corner < 1 << D; ++corner) {
    int index[3] = {};
    float weight = 1.0f;
    for (int d = 0; d < D; ++d) {
      const bool next = corner >> d & 1;
      index[d] = place.index[d] + next;
      weight *= next ? place.weight[d] : 1.0f - place.weight[d];
    }
    if (weight == 0.0f) continue;
    const Texel texel = point<D>(t, index, place.slice);
    for (int c = 0; c < 4; ++c) sum[c] += weight * from_bits(texel.channel[c]);
  }
  Texel result;
  for (int c = 0; c < 4; ++c) result.channel[c] = bits(sum[c]);
  return result;
}

LOCAL int layer_of(const Texture& t, unsigned layer) {
  const unsigned last = t.layers ? t.layers - 1 : 0;
  return (int)(layer < last ? layer : last);
}

// -- fetches --

LOCAL void give(unsigned* words, const Texel& texel) {
  for (int c = 0; c < 4; ++c) words[c] = texel.channel[c];
}

template <int D>
LOCAL Texel sample(const Texture& t, const float (&coordinates)[3], const int* offsets, int slice) {
  if (t.is_linear_memory) return {};  // has texels by number only
  const unsigned size[3] = {t.width, t.height, t.depth};
  float x[3] = {};
  for (int d = 0; d < D; ++d) x[d] = in_texels(t, coordinates[d], size[d], t.addressing[d]);
  Place place{};
  place.slice = slice;
  if (t.is_linear_filter) {
    place_for_filter<D>(place, x, offsets);
    return filtered<D>(t, place);
  }
  for (int d = 0; d < D; ++d) place.index[d] = (int)__builtin_floorf(x[d]) + offsets[d];
  return point<D>(t, place.index, slice);
}

template <int D, bool kLayered>
LOCAL void fetch(unsigned* words, Address object) {
  const Texture& t = texture_at(object);
  float x[3] = {};
  for (int d = 0; d < D; ++d) x[d] = from_bits(words[d + kLayered]);
  give(words, sample<D>(t, x, (const int*)words + 4, kLayered ? layer_of(t, words[0]) : 0));
}

/// Texels by their numbers: no filter, no normalised coordinates, and zero outside.
template <int D, bool kLayered>
LOCAL void fetch_texel(unsigned* words, Address object) {
  const Texture& t = texture_at(object);
  const unsigned size[3] = {t.width, t.height, t.depth};
  unsigned i[3] = {0, 0, kLayered ? (unsigned)layer_of(t, words[0]) : 0u};
  bool inside = true;
  for (int d = 0; d < D; ++d) {
    i[d] = words[d + kLayered] + words[4 + d];
    inside &= i[d] < size[d];
  }
  give(words, inside ? texel_at(t, (int)i[0], (int)i[1], (int)i[2]) : Texel{});
}

/// The face that a direction points to, and where on it. "CUDA C++ Programming Guide, Cubemap Textures".
struct FacePlace {
  int face;
  float s, t;
};
LOCAL FacePlace face_of(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  int face;
  float m, s, t;
  if (az >= ax && az >= ay) {
    face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, t = -y;
  } else if (ay >= ax) {
    face = y >= 0 ? 2 : 3, m = ay, s = x, t = y >= 0 ? z : -z;
  } else {
    face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, t = -y;
  }
  if (m == 0) return {face, 0.5f, 0.5f};
  return {face, (s / m + 1.0f) * 0.5f, (t / m + 1.0f) * 0.5f};
}

/// A face is a plane of its own, whose edges are clamped.
template <bool kLayered>
LOCAL void fetch_cube(unsigned* words, Address object) {
  Texture t = texture_at(object);
  const FacePlace at =
      face_of(from_bits(words[kLayered]), from_bits(words[1 + kLayered]), from_bits(words[2 + kLayered]));
  t.has_normalized_coordinates = true;
  t.addressing[0] = t.addressing[1] = Addressing::Clamp;
  const int offsets[3] = {};
  give(words, sample<2>(t, {at.s, at.t, 0}, offsets, at.face + 6 * (kLayered ? layer_of(t, words[0]) : 0)));
}

/// One channel of the four texels that a filter would take, counter-clockwise from the lower left one.
LOCAL void gather(unsigned* words, const Texture& t, const float (&coordinates)[3], const int* offsets, int slice,
                  unsigned channel) {
  Place place{};
  const float x[3] = {in_texels(t, coordinates[0], t.width, t.addressing[0]),
                      in_texels(t, coordinates[1], t.height, t.addressing[1]), 0};
  place_for_filter<2>(place, x, offsets);
  const int step[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  Texel result;
  for (int c = 0; c < 4; ++c)
    result.channel[c] =
        point<2>(t, {place.index[0] + step[c][0], place.index[1] + step[c][1], 0}, slice).channel[channel];
  give(words, result);
}

}  // namespace

#define FETCH(name, dimensions, layered)                                   \
  NV void __cupola_ptx_tex_##name##_f32(unsigned* words, Address object) { \
    fetch<dimensions, layered>(words, object);                             \
  }                                                                        \
  NV void __cupola_ptx_tex_##name##_s32(unsigned* words, Address object) { \
    fetch_texel<dimensions, layered>(words, object);                       \
  }
FETCH(1d, 1, false)
FETCH(2d, 2, false)
FETCH(3d, 3, false)
FETCH(a1d, 1, true)
FETCH(a2d, 2, true)
#undef FETCH

NV void __cupola_ptx_tex_cube_f32(unsigned* words, Address object) {
  fetch_cube<false>(words, object);
}
NV void __cupola_ptx_tex_acube_f32(unsigned* words, Address object) {
  fetch_cube<true>(words, object);
}

NV void __cupola_ptx_tld4_2d(unsigned* words, Address object, unsigned channel) {
  gather(words, texture_at(object), {from_bits(words[0]), from_bits(words[1]), 0}, (const int*)words + 4, 0, channel);
}
NV void __cupola_ptx_tld4_a2d(unsigned* words, Address object, unsigned channel) {
  const Texture& t = texture_at(object);
  gather(words, t, {from_bits(words[1]), from_bits(words[2]), 0}, (const int*)words + 4, layer_of(t, words[0]),
         channel);
}

// -- questions --

/// Numbers of ptx/lower/textures.cpp.
enum Question : unsigned {
  kWidth,
  kHeight,
  kDepth,
  kChannelType,
  kChannelOrder,
  kNormalized,
  kLayers,
  kLevels,
  kSamples
};

NV unsigned __cupola_ptx_texture_query(Address object, unsigned question) {
  const Texture& t = texture_at(object);
  const unsigned size = t.channel_bits == 8 ? 0 : t.channel_bits == 16 ? 1 : 2;
  switch (question) {
    case kWidth:
      return t.width;
    case kHeight:
      return t.is_linear_memory ? 0 : t.height;
    case kDepth:
      return t.depth;
    case kChannelType:  // the numbers of "PTX ISA, Channel Data Type and Channel Order Fields"
      if (t.channel_kind == ChannelKind::Float) return 0x10dcu + size;
      if (t.is_normalized_read) return (t.channel_kind == ChannelKind::Signed ? 0x10d0u : 0x10d2u) + size;
      return (t.channel_kind == ChannelKind::Signed ? 0x10d7u : 0x10dau) + size;
    case kChannelOrder:
      return t.channels == 1 ? 0x10b0 : t.channels == 2 ? 0x10b2 : 0x10b5;
    case kNormalized:
      return t.has_normalized_coordinates;
    case kLayers:
      return t.layers;
    case kLevels:
      return t.levels;
    default:
      return 1;
  }
}

// -- surfaces --

namespace {

/// What becomes of an access outside the surface.
enum Outside : unsigned { kTrap, kClamp, kZero };

/// The address of an access of `bytes` at the coordinates; 0 where it is dropped. x counts bytes, or texels of
/// formatted accesses.
template <int D, bool kLayered>
LOCAL Address surface_address(const unsigned* words, const Texture& t, unsigned bytes, unsigned x_unit,
                              unsigned outside) {
  const long long row = (long long)t.width * texel_bytes(t);
  long long at[3] = {(long long)(int)words[kLayered] * x_unit, D > 1 ? (int)words[1 + kLayered] : 0,
                     D > 2 ? (int)words[2 + kLayered] : 0};
  const long long last[3] = {row - bytes, (long long)t.height - 1, (long long)t.depth - 1};
  if (last[0] < 0) __builtin_trap();
  for (int d = 0; d < D; ++d) {
    if (at[d] >= 0 && at[d] <= last[d]) continue;
    if (outside == kTrap) __builtin_trap();
    if (outside == kZero) return 0;
    at[d] = at[d] < 0 ? 0 : last[d];
  }
  if (kLayered) {
    if (words[0] >= t.layers && outside == kTrap) __builtin_trap();
    if (words[0] >= t.layers && outside == kZero) return 0;
    at[2] = layer_of(t, words[0]);
  }
  return t.address + (Address)at[2] * t.slice_pitch + (Address)at[1] * t.row_pitch + (Address)at[0];
}

/// By the geometry's number in ptx/lower/textures.cpp.
LOCAL Address surface_place(const unsigned* words, const Texture& t, unsigned geometry, unsigned bytes, unsigned x_unit,
                            unsigned outside) {
  switch (geometry) {
    case 0:
      return surface_address<1, false>(words, t, bytes, x_unit, outside);
    case 1:
      return surface_address<2, false>(words, t, bytes, x_unit, outside);
    case 2:
      return surface_address<3, false>(words, t, bytes, x_unit, outside);
    case 3:
      return surface_address<1, true>(words, t, bytes, x_unit, outside);
    default:
      return surface_address<2, true>(words, t, bytes, x_unit, outside);
  }
}

}  // namespace

/// Where suld.b, sust.b and sured.b find their `bytes`; null where the access is dropped.
NV char* __cupola_ptx_surface_bytes(const unsigned* words, Address object, unsigned geometry, unsigned bytes,
                                    unsigned outside) {
  return (char*)surface_place(words, texture_at(object), geometry, bytes, 1, outside);
}
/// Where sured.p finds its texel.
NV char* __cupola_ptx_surface_texel(const unsigned* words, Address object, unsigned geometry, unsigned outside) {
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

/// sust.p: words 4 to 7 are the channels, integers or bits of f32 as the surface's are.
NV void __cupola_ptx_surface_store_texel(const unsigned* words, Address object, unsigned geometry, unsigned outside) {
  const Texture& t = texture_at(object);
  const Address at = surface_place(words, t, geometry, texel_bytes(t), texel_bytes(t), outside);
  if (!at) return;
  for (unsigned c = 0; c < t.channels; ++c) {
    unsigned word = words[4 + c];
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
