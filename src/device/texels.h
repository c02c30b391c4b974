#pragma once

#include "../image/texture_abi.h"
#include "device.h"

// Texels of textures: their channels, and where an index leads. "CUDA C++ Programming Guide, Texture Memory, Texture
// Fetching". Where the documents leave something open, GPUs decide: borders of integers.

namespace cupola::device {

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

LOCAL int layer_of(const Texture& t, unsigned layer) {
  const unsigned last = t.layers ? t.layers - 1 : 0;
  return (int)(layer < last ? layer : last);
}

// -- channels --

/// An integer channel in [0, 1] or [-1, 1]. Both ends of a signed one are -1.
LOCAL float normalized(int value, bool is_signed, unsigned bits) {
  const float largest = (float)((1u << (is_signed ? bits - 1 : bits)) - 1);
  const float quotient = (float)value / largest;
  return quotient < -1.0f ? -1.0f : quotient;
}

/// sRGB's curve: IEC 61966-2-1.
LOCAL float linear_of_srgb(float value) {
  return value <= 0.04045f ? value / 12.92f : __builtin_powf((value + 0.055f) / 1.055f, 2.4f);
}

LOCAL unsigned read_channel(const Texture& t, Address at, unsigned channel) {
  at += channel * (t.channel_bits / 8u);
  unsigned word = t.channel_bits == 8    ? *(const unsigned char*)at
                  : t.channel_bits == 16 ? *(const unsigned short*)at
                                         : *(const unsigned*)at;
  if (t.channel_kind == ChannelKind::Float)
    return t.channel_bits == 32 ? word : bits((float)__builtin_bit_cast(_Float16, (unsigned short)word));
  const bool is_signed = t.channel_kind == ChannelKind::Signed;
  const unsigned unused = 32u - t.channel_bits;
  if (is_signed) word = (unsigned)((int)(word << unused) >> unused);
  if (!t.is_normalized_read) return word;
  const float value = normalized((int)word, is_signed, t.channel_bits);
  return bits(t.is_srgb && channel < 3 ? linear_of_srgb(value) : value);
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
  for (unsigned c = 0; c < t.channels; ++c) result.channel[c] = read_channel(t, at, c);
  return result;
}

/// sum += weight * texel, for texels of floats.
LOCAL void accumulate(float (&sum)[4], float weight, const Texel& texel) {
  for (int c = 0; c < 4; ++c) sum[c] += weight * from_bits(texel.channel[c]);
}

LOCAL Texel texel_of(const float (&channels)[4]) {
  Texel result;
  for (int c = 0; c < 4; ++c) result.channel[c] = bits(channels[c]);
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

/// The texel at indices that may lie outside.
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

}  // namespace cupola::device
