#include "../image/texture_calls.h"

#include "texels.h"
#include "texture_cubes.h"

// Textures: "CUDA C++ Programming Guide, Texture Fetching" and "PTX ISA, Texture Instructions". Where words are is said
// in image/texture_calls.h; what a texel has no channel for reads as 0.

namespace {

using namespace cupola::device;
using cupola::image::kGradientWords, cupola::image::kLevelWord, cupola::image::kOffsetWord;

// -- filters --

/// A place: texel indices, and for the filter the weights of the next ones.
struct Place {
  int index[3];
  float weight[3];
};

/// Weights have 8 bits of fraction.
template <int D>
LOCAL Place place_for_filter(const float (&x)[3], const int* offsets) {
  Place place{};
  for (int d = 0; d < D; ++d) {
    const int fixed = (int)__builtin_floorf(x[d] * 256.0f + 0.5f) - 128;
    place.index[d] = (fixed >> 8) + offsets[d];
    place.weight[d] = (float)(fixed & 255) / 256.0f;
  }
  return place;
}

/// The texels around a place, `texel(index)`, by their weights.
template <int D, typename Read>
LOCAL Texel filtered(const Place& place, Read texel) {
  float sum[4] = {};
  for (int corner = 0; corner < 1 << D; ++corner) {
    int index[3] = {};
    float weight = 1.0f;
    for (int d = 0; d < D; ++d) {
      const bool next = corner >> d & 1;
      index[d] = place.index[d] + next;
      weight *= next ? place.weight[d] : 1.0f - place.weight[d];
    }
    if (weight != 0.0f) accumulate(sum, weight, texel(index));
  }
  return texel_of(sum);
}

template <int D>
LOCAL Texel sample(const Texture& t, const float (&coordinates)[3], const int* offsets, int slice) {
  if (t.is_linear_memory) return {};  // has texels by number only
  const unsigned size[3] = {t.width, t.height, t.depth};
  float x[3] = {};
  for (int d = 0; d < D; ++d) x[d] = in_texels(t, coordinates[d], size[d], t.addressing[d]);
  if (t.is_linear_filter)
    return filtered<D>(place_for_filter<D>(x, offsets),
                       [&](const int (&index)[3]) INLINE { return point<D>(t, index, slice); });
  int index[3] = {};
  for (int d = 0; d < D; ++d) index[d] = (int)__builtin_floorf(x[d]) + offsets[d];
  return point<D>(t, index, slice);
}

// -- levels of detail --

LOCAL Texture at_level(const Texture& t, unsigned level) {
  Texture result = t;
  if (level)
    static_cast<cupola::image::TextureLevel&>(result) = ((const cupola::image::TextureLevel*)t.level_table)[level];
  return result;
}

/// A level, with its bias, among those that a fetch may reach.
LOCAL float allowed_level(const Texture& t, float level) {
  level += t.level_bias;
  return level > t.most_level ? t.most_level : level > t.least_level ? level : t.least_level;
}

/// The nearer of two levels; the finer one from the middle.
LOCAL unsigned nearest_level(float level) {
  return level <= 0.5f ? 0 : (unsigned)__builtin_ceilf(level - 0.5f);
}

/// What `read` finds at the level, or between two by weights of 8 bits of fraction.
template <typename Read>
LOCAL Texel at_detail(const Texture& t, float wanted, Read read) {
  if (t.levels == 1) return read(t);
  const float level = allowed_level(t, wanted);
  const unsigned fixed = t.is_linear_mipmap_filter ? (unsigned)(level * 256.0f + 0.5f) : nearest_level(level) * 256;
  const unsigned next = fixed & 255;
  Texel result{};
  float sum[4] = {};
  for (unsigned i = 0; i <= (next != 0); ++i) {
    result = read(at_level(t, (fixed >> 8) + i));
    if (next) accumulate(sum, (float)(i ? next : 256 - next) / 256.0f, result);
  }
  return next ? texel_of(sum) : result;
}

/// The logarithm of the longer gradient in texels of level zero: isotropic, whatever anisotropy the texture allows.
template <int D>
LOCAL float level_of_gradients(const Texture& t, const float (&dx)[3], const float (&dy)[3]) {
  if (t.levels == 1) return 0;
  const float size[3] = {(float)t.width, (float)t.height, (float)t.depth};
  float x = 0, y = 0;
  for (int d = 0; d < D; ++d) {
    x += dx[d] * size[d] * (dx[d] * size[d]);
    y += dy[d] * size[d] * (dy[d] * size[d]);
  }
  return 0.5f * __builtin_log2f(x > y ? x : y);
}

// -- fetches --

/// What tells the level: nothing, a number, or gradients.
enum class By { Zero, Level, Gradients };

LOCAL void give(unsigned* words, const Texel& texel) {
  for (int c = 0; c < 4; ++c) words[c] = texel.channel[c];
}

LOCAL void take(float (&to)[3], const unsigned* words, int count) {
  for (int c = 0; c < count; ++c) to[c] = from_bits(words[c]);
}

template <int D>
LOCAL float level_in(const unsigned* words, const Texture& t, By by) {
  if (by == By::Zero) return 0;
  if (by == By::Level) return from_bits(words[kLevelWord]);
  float dx[3] = {}, dy[3] = {};
  take(dx, words + kGradientWords[0], D);
  take(dy, words + kGradientWords[1], D);
  return level_of_gradients<D>(t, dx, dy);
}

template <int D, bool kLayered, By kBy>
LOCAL void fetch(unsigned* words, Address object) {
  const Texture& t = texture_at(object);
  float x[3] = {};
  take(x, words + kLayered, D);
  const int slice = kLayered ? layer_of(t, words[0]) : 0;
  give(words, at_detail(t, level_in<D>(words, t, kBy), [&](const Texture& level) INLINE {
         return sample<D>(level, x, (const int*)words + kOffsetWord, slice);
       }));
}

/// Texels by their numbers, at a level by its number: no filter, no normalised coordinates, and zero outside.
template <int D, bool kLayered, By kBy>
LOCAL void fetch_texel(unsigned* words, Address object) {
  const Texture& whole = texture_at(object);
  unsigned level = 0;
  if (kBy == By::Level) level = words[kLevelWord];
  if (kBy == By::Gradients && whole.levels > 1)
    level = nearest_level(allowed_level(whole, level_in<D>(words, whole, kBy)));
  if (level >= whole.levels) return give(words, {});
  const Texture t = at_level(whole, level);
  const unsigned size[3] = {t.width, t.height, t.depth};
  unsigned i[3] = {0, 0, kLayered ? (unsigned)layer_of(t, words[0]) : 0u};
  bool inside = true;
  for (int d = 0; d < D; ++d) {
    i[d] = words[d + kLayered] + words[kOffsetWord + d];
    inside &= i[d] < size[d];
  }
  give(words, inside ? texel_at(t, (int)i[0], (int)i[1], (int)i[2]) : Texel{});
}

/// A face is a plane of its own, whose edges are clamped, unless the texture is seamless.
LOCAL Texel sample_face(const Texture& cube, int face, float s, float t, int slice) {
  const float x[3] = {s, t, 0};
  const int offsets[3] = {};
  if (!cube.is_seamless || !cube.is_linear_filter) return sample<2>(cube, x, offsets, slice + face);
  const float texels[3] = {s * (float)cube.width, t * (float)cube.width, 0};
  return filtered<2>(place_for_filter<2>(texels, offsets),
                     [&](const int (&index)[3]) INLINE { return cube_texel(cube, {face, index[0], index[1]}, slice); });
}

/// How a coordinate on the face, s / m in [0, 1], changes with the direction.
LOCAL void face_gradient(float (&to)[3], int face, const OnFace& at, const unsigned* words) {
  const OnFace change = on_face(face, from_bits(words[0]), from_bits(words[1]), from_bits(words[2]));
  const float scale = 0.5f / (at.m * at.m);
  to[0] = (change.s * at.m - at.s * change.m) * scale;
  to[1] = (change.t * at.m - at.t * change.m) * scale;
}

template <bool kLayered, By kBy>
LOCAL void fetch_cube(unsigned* words, Address object) {
  Texture cube = texture_at(object);
  cube.has_normalized_coordinates = true;
  cube.addressing[0] = cube.addressing[1] = Addressing::Clamp;
  float x[3] = {};
  take(x, words + kLayered, 3);
  const int face = face_of(x[0], x[1], x[2]);
  const OnFace at = on_face(face, x[0], x[1], x[2]);
  const bool is_null = at.m == 0;
  const float s = is_null ? 0.5f : (at.s / at.m + 1.0f) * 0.5f, t = is_null ? 0.5f : (at.t / at.m + 1.0f) * 0.5f;
  float level = kBy == By::Level ? from_bits(words[kLevelWord]) : 0;
  if (kBy == By::Gradients) {
    float dx[3] = {}, dy[3] = {};
    face_gradient(dx, face, at, words + kGradientWords[0]);
    face_gradient(dy, face, at, words + kGradientWords[1]);
    level = level_of_gradients<2>(cube, dx, dy);
  }
  const int slice = kLayered ? 6 * layer_of(cube, words[0]) : 0;
  give(words, at_detail(cube, level, [&](const Texture& each) INLINE { return sample_face(each, face, s, t, slice); }));
}

/// One channel of the four texels that a filter would take, counter-clockwise from the lower left one.
LOCAL void gather(unsigned* words, const Texture& t, const float (&coordinates)[3], const int* offsets, int slice,
                  unsigned channel) {
  const float x[3] = {in_texels(t, coordinates[0], t.width, t.addressing[0]),
                      in_texels(t, coordinates[1], t.height, t.addressing[1]), 0};
  const Place place = place_for_filter<2>(x, offsets);
  const int step[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  Texel result;
  for (int c = 0; c < 4; ++c)
    result.channel[c] =
        point<2>(t, {place.index[0] + step[c][0], place.index[1] + step[c][1], 0}, slice).channel[channel];
  give(words, result);
}

}  // namespace

#define FETCH(mode, by, name, dimensions, layered)                               \
  NV void __cupola_ptx_tex_##mode##name##_f32(unsigned* words, Address object) { \
    fetch<dimensions, layered, By::by>(words, object);                           \
  }                                                                              \
  NV void __cupola_ptx_tex_##mode##name##_s32(unsigned* words, Address object) { \
    fetch_texel<dimensions, layered, By::by>(words, object);                     \
  }
#define FETCH_CUBE(mode, by, name, layered)                                      \
  NV void __cupola_ptx_tex_##mode##name##_f32(unsigned* words, Address object) { \
    fetch_cube<layered, By::by>(words, object);                                  \
  }
#define TEXTURE_QUESTION(modifier)
#define TEXTURE_GEOMETRY(modifier, name, dimensions, layers) FETCH(, Zero, name, dimensions, layers)
#define TEXTURE_CUBE(modifier, name, layers) FETCH_CUBE(, Zero, name, layers)
#include "../image/texture_calls.def"
#define TEXTURE_QUESTION(modifier)
#define TEXTURE_GEOMETRY(modifier, name, dimensions, layers) FETCH(level_, Level, name, dimensions, layers)
#define TEXTURE_CUBE(modifier, name, layers) FETCH_CUBE(level_, Level, name, layers)
#include "../image/texture_calls.def"
#define TEXTURE_QUESTION(modifier)
#define TEXTURE_GEOMETRY(modifier, name, dimensions, layers) FETCH(grad_, Gradients, name, dimensions, layers)
#define TEXTURE_CUBE(modifier, name, layers) FETCH_CUBE(grad_, Gradients, name, layers)
#include "../image/texture_calls.def"
#undef FETCH_CUBE
#undef FETCH

NV void __cupola_ptx_tld4_2d(unsigned* words, Address object, unsigned channel) {
  gather(words, texture_at(object), {from_bits(words[0]), from_bits(words[1]), 0}, (const int*)words + kOffsetWord, 0,
         channel);
}
NV void __cupola_ptx_tld4_a2d(unsigned* words, Address object, unsigned channel) {
  const Texture& t = texture_at(object);
  gather(words, t, {from_bits(words[1]), from_bits(words[2]), 0}, (const int*)words + kOffsetWord,
         layer_of(t, words[0]), channel);
}

// -- questions --

/// Of a level of detail; sizes of one that there is not are 0.
NV unsigned __cupola_ptx_texture_query(Address object, cupola::image::TextureQuestion question, unsigned level) {
  using enum cupola::image::TextureQuestion;
  const Texture& t = texture_at(object);
  if (level && (question == Width || question == Height || question == Depth)) {
    if (level >= t.levels) return 0;
    const Texture at = at_level(t, level);
    return question == Width ? at.width : question == Height ? at.height : at.depth;
  }
  const unsigned size = t.channel_bits == 8 ? 0 : t.channel_bits == 16 ? 1 : 2;
  switch (question) {
    case Width:
      return t.width;
    case Height:
      return t.is_linear_memory ? 0 : t.height;
    case Depth:
      return t.depth;
    case ChannelDataType:  // the numbers of "PTX ISA, Channel Data Type and Channel Order Fields"
      if (t.channel_kind == ChannelKind::Float) return 0x10dcu + size;
      if (t.is_normalized_read) return (t.channel_kind == ChannelKind::Signed ? 0x10d0u : 0x10d2u) + size;
      return (t.channel_kind == ChannelKind::Signed ? 0x10d7u : 0x10dau) + size;
    case ChannelOrder:
      return t.channels == 1 ? 0x10b0 : t.channels == 2 ? 0x10b2 : 0x10b5;
    case NormalizedCoords:
      return t.has_normalized_coordinates;
    case ArraySize:
      return t.layers;
    case NumMipmapLevels:
      return t.levels;
    case NumSamples:
      return 1;
  }
}
