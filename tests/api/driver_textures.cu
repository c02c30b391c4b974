// Textures, surfaces and CUDA arrays through the driver API, read by PTX. Oracle: the formulas of "CUDA C++ Programming
// Guide, Texture Fetching" and "Cubemap Textures", computed here in double; "PTX ISA, Texture Instructions, Surface
// Instructions"; "CUDA Driver API, Memory Management, Texture Object Management". What those leave open was measured on
// a GPU: absent channels and texels fetched by a number outside are 0, weights are rounded to the nearest 256th.

#include <algorithm>
#include <cmath>

#include "textures.h"

namespace {

using namespace check;

std::vector<float> squares(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * i) * 0.25f + 1;
  return values;
}

/// Numbers in [low, high) that are not close to a multiple of 1/256 of a texel of `size` texels.
struct Random {
  uint32_t state = 12345;
  float next(float low, float high, float texels) {
    for (;;) {
      state = state * 1664525u + 1013904223u;
      const float x = low + (high - low) * static_cast<float>(state >> 8) / 16777216.0f;
      const double steps = static_cast<double>(x) * texels * 256.0 + 0.5;
      if (std::fabs(steps - std::round(steps)) > 0.05) return x;
    }
  }
};

// ---- the guide's formulas ----

constexpr double kBorder = 7.25;

/// The index that an addressing mode makes of one that may lie outside; -1 for the border.
int addressed(int i, int size, CUaddress_mode mode, bool normalized) {
  if (i >= 0 && i < size) return i;
  if (mode == CU_TR_ADDRESS_MODE_BORDER) return -1;
  if (mode == CU_TR_ADDRESS_MODE_CLAMP || !normalized) return i < 0 ? 0 : size - 1;
  const int turn = i >= 0 ? i / size : (i - size + 1) / size, part = i - turn * size;
  return mode == CU_TR_ADDRESS_MODE_WRAP || turn % 2 == 0 ? part : size - 1 - part;
}

double texel(const std::vector<float>& data, const int (&size)[3], const int (&at)[3], CUaddress_mode mode,
             bool normalized) {
  int index[3];
  for (int d = 0; d < 3; ++d) {
    index[d] = addressed(at[d], size[d], mode, normalized);
    if (index[d] < 0) return kBorder;
  }
  return data[static_cast<size_t>((index[2] * size[1] + index[1]) * size[0] + index[0])];
}

struct Sample {
  double value;
  double spread;  ///< of the texels that took part
};

Sample sampled(const std::vector<float>& data, const int (&size)[3], int dimensions, const float (&coordinate)[3],
               CUaddress_mode mode, bool normalized, bool linear) {
  int at[3] = {};
  double weight[3] = {};
  for (int d = 0; d < dimensions; ++d) {
    const double x = static_cast<double>(coordinate[d]) * (normalized ? size[d] : 1);
    if (!linear) {
      at[d] = static_cast<int>(std::floor(x));
      continue;
    }
    const double steps = std::floor((x - 0.5) * 256 + 0.5);  // weights have 8 bits of fraction
    at[d] = static_cast<int>(std::floor(steps / 256));
    weight[d] = steps / 256 - at[d];
  }
  double sum = 0, least = 1e9, most = -1e9;
  for (int corner = 0; corner < 8; ++corner) {
    double part = 1;
    int here[3];
    for (int d = 0; d < 3; ++d) {
      const bool next = corner >> d & 1;
      here[d] = at[d] + next;
      part *= next ? weight[d] : 1 - weight[d];
    }
    if (part == 0) continue;
    const double value = texel(data, size, here, mode, normalized);
    sum += part * value;
    least = std::min(least, value), most = std::max(most, value);
  }
  return {sum, most - least};
}

void expect_near(int i, float got, double expected, double tolerance) {
  if (!(std::fabs(got - expected) <= tolerance)) EXPECT_EQUAL_AT(i, got, expected);
}

/// 64 fetches of a texture of f32 with each addressing mode, coordinates and filter.
void expect_formulas(const std::string& form, const std::string& list, int dimensions, const int (&size)[3]) {
  const auto data = squares(static_cast<size_t>(size[0] * size[1] * size[2]));
  const ArrayOf array(static_cast<size_t>(size[0]), dimensions > 1 ? static_cast<size_t>(size[1]) : 0,
                      dimensions > 2 ? static_cast<size_t>(size[2]) : 0, CU_AD_FORMAT_FLOAT, 1, 4, data.data());
  Random random;
  for (const CUaddress_mode mode :
       {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_BORDER})
    for (const bool normalized : {false, true})
      for (const bool linear : {false, true}) {
        CUDA_TEXTURE_DESC how =
            sampling(normalized ? kNormalized : 0, mode, linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT);
        // GPUs filter the border into dimensions that there are not.
        for (int d = dimensions; d < 3; ++d) how.addressMode[d] = CU_TR_ADDRESS_MODE_CLAMP;
        const Texture texture(array.resource(), how);
        std::vector<Word4> words(64);
        std::vector<std::array<float, 3>> asked(64);
        for (size_t i = 0; i < words.size(); ++i) {
          for (int d = 0; d < 3; ++d) {
            const auto texels = static_cast<float>(size[d]);
            asked[i][static_cast<size_t>(d)] =
                normalized ? random.next(-2.5f, 3.5f, texels) : random.next(-0.4f * texels, 1.4f * texels, 1);
          }
          words[i] = coordinates(asked[i][0], asked[i][1], asked[i][2]);
        }
        const auto got = results(fetch(form, list), texture, words);
        for (size_t i = 0; i < words.size(); ++i) {
          const float at[3] = {asked[i][0], asked[i][1], asked[i][2]};
          const Sample expected = sampled(data, size, dimensions, at, mode, normalized, linear);
          // GPUs round the products of the weights of several dimensions to 8 bits as well.
          const double rounding = linear ? expected.value * 1e-5 + (dimensions > 1 ? expected.spread / 256 : 0) : 0;
          expect_near(static_cast<int>(i), as_float(got[i][0]), expected.value, rounding);
          for (size_t c = 1; c < 4; ++c) EXPECT_EQUAL(got[i][c], 0u);
        }
      }
}

CASE(arrays_of_one_dimension_follow_the_formulas) {
  expect_formulas("tex.1d.v4.f32.f32", "{%f0}", 1, {11, 1, 1});
}
CASE(arrays_of_two_dimensions_follow_the_formulas) {
  expect_formulas("tex.2d.v4.f32.f32", "{%f0, %f1}", 2, {7, 5, 1});
}
CASE(arrays_of_three_dimensions_follow_the_formulas) {
  expect_formulas("tex.3d.v4.f32.f32", "{%f0, %f1, %f2, %f2}", 3, {6, 5, 3});
}

CASE(the_only_level_is_every_level) {
  const int size[3] = {4, 4, 1};
  const auto data = squares(16);
  const ArrayOf array(4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 4, data.data());
  const Texture texture(array.resource(), sampling(0));
  struct Form {
    const char *text, *rest;
  };
  for (const Form& form : {Form{"tex.base.2d.v4.f32.f32", ""}, Form{"tex.level.2d.v4.f32.f32", ", %f2"},
                           Form{"tex.grad.2d.v4.f32.f32", ", {%f2, %f2}, {%f2, %f2}"}}) {
    const auto got = results(fetch(form.text, "{%f0, %f1}", form.rest), texture, {coordinates(2.5f, 1.5f, 0.0f)});
    EXPECT_EQUAL(as_float(got[0][0]), data[6]);
  }
  const auto moved = results(
      ".reg .b32 %o<2>; mov.b32 %o0, 1; mov.b32 %o1, -1; " + fetch("tex.2d.v4.f32.f32", "{%f0, %f1}", ", {%o0, %o1}"),
      texture, {coordinates(1.5f, 2.5f)});
  EXPECT_EQUAL(as_float(moved[0][0]), data[static_cast<size_t>(1 * size[0] + 2)]);
}

CASE(linear_memory_is_read_by_number) {
  check::use_context();
  const auto data = squares(12);
  CUdeviceptr memory = 0;
  CU_OK(cuMemAlloc(&memory, 48));
  CU_OK(cuMemcpyHtoD(memory, data.data(), 48));
  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_LINEAR;
  r.res.linear.devPtr = memory;
  r.res.linear.format = CU_AD_FORMAT_FLOAT;
  r.res.linear.numChannels = 1;
  r.res.linear.sizeInBytes = 40;
  {
    const Texture texture(r, sampling(0));
    std::vector<Word4> words;
    for (uint32_t i = 0; i < 14; ++i) words.push_back({i - 2, 0, 0, 0});
    const auto got = results(fetch("tex.1d.v4.f32.s32", "{%r0}"), texture, words);
    for (uint32_t i = 0; i < 14; ++i) EXPECT_EQUAL_AT(i, as_float(got[i][0]), i >= 2 && i < 12 ? data[i - 2] : 0.0f);
    EXPECT_EQUAL(results("txq.width.b32 %d0, [%rd0];", texture, {{}})[0][0], 10u);
  }
  r.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
  r.res.linear.numChannels = 4;
  const uint8_t bytes[8] = {1, 2, 3, 255, 5, 128, 0, 8};
  CU_OK(cuMemcpyHtoD(memory, bytes, 8));
  const Texture texture(r, sampling(kInteger));
  const auto got = results(fetch("tex.1d.v4.u32.s32", "{%r0}"), texture, {{0}, {1}});
  for (size_t i = 0; i < 8; ++i) EXPECT_EQUAL_AT(i, got[i / 4][i % 4], bytes[i]);
  CU_OK(cuMemFree(memory));
}

CASE(pitched_memory_is_a_plane) {
  check::use_context();
  const auto data = squares(15);
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  CU_OK(cuMemAllocPitch(&memory, &pitch, 20, 3, 4));
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = data.data(), c.srcPitch = 20;
  c.dstMemoryType = CU_MEMORYTYPE_DEVICE, c.dstDevice = memory, c.dstPitch = pitch;
  c.WidthInBytes = 20, c.Height = 3;
  CU_OK(cuMemcpy2D(&c));
  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_PITCH2D;
  r.res.pitch2D.devPtr = memory;
  r.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
  r.res.pitch2D.numChannels = 1;
  r.res.pitch2D.width = 5, r.res.pitch2D.height = 3, r.res.pitch2D.pitchInBytes = pitch;
  {
    const Texture texture(r, sampling(0, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
    const auto got = results(fetch("tex.2d.v4.f32.f32", "{%f0, %f1}"), texture,
                             {coordinates(3.5f, 1.5f), coordinates(9.0f, 2.0f), coordinates(1.0f, 0.5f)});
    EXPECT_EQUAL(as_float(got[0][0]), data[8]);
    EXPECT_EQUAL(as_float(got[1][0]), (data[9] + data[14]) / 2);
    EXPECT_EQUAL(as_float(got[2][0]), (data[0] + data[1]) / 2);
  }
  CU_OK(cuMemFree(memory));
}

CASE(integers_are_read_as_they_are_or_normalised) {
  const uint8_t bytes[8] = {0, 1, 127, 128, 129, 200, 254, 255};
  const int16_t shorts[4] = {-32768, -32767, 1000, 32767};
  const ArrayOf unsigned8(2, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, bytes);
  const ArrayOf signed8(2, 0, 0, CU_AD_FORMAT_SIGNED_INT8, 4, 4, bytes);
  const ArrayOf signed16(2, 0, 0, CU_AD_FORMAT_SIGNED_INT16, 2, 4, shorts);
  const ArrayOf unsigned16(2, 0, 0, CU_AD_FORMAT_UNSIGNED_INT16, 2, 4, shorts);
  const auto read = [](const ArrayOf& array, unsigned flags) {
    const Texture texture(array.resource(), sampling(flags));
    return results(fetch("tex.1d.v4.u32.f32", "{%f0}"), texture, {coordinates(0.5f), coordinates(1.5f)});
  };
  for (size_t i = 0; i < 8; ++i) {
    const auto byte = static_cast<int8_t>(bytes[i]);
    EXPECT_EQUAL_AT(i, read(unsigned8, kInteger)[i / 4][i % 4], bytes[i]);
    EXPECT_EQUAL_AT(i, read(signed8, kInteger)[i / 4][i % 4], static_cast<uint32_t>(int32_t{byte}));
    expect_near(static_cast<int>(i), as_float(read(unsigned8, 0)[i / 4][i % 4]), bytes[i] / 255.0, 1e-6);
    expect_near(static_cast<int>(i), as_float(read(signed8, 0)[i / 4][i % 4]), std::max(byte / 127.0, -1.0), 1e-6);
  }
  for (size_t i = 0; i < 4; ++i) {
    const auto word = static_cast<uint16_t>(shorts[i]);
    EXPECT_EQUAL_AT(i, read(signed16, kInteger)[i / 2][i % 2], static_cast<uint32_t>(int32_t{shorts[i]}));
    EXPECT_EQUAL_AT(i, read(unsigned16, kInteger)[i / 2][i % 2], word);
    expect_near(static_cast<int>(i), as_float(read(unsigned16, 0)[i / 2][i % 2]), word / 65535.0, 1e-6);
    expect_near(static_cast<int>(i), as_float(read(signed16, 0)[i / 2][i % 2]), std::max(shorts[i] / 32767.0, -1.0),
                1e-6);
  }
}

CASE(halves_come_and_go) {
  const uint16_t halves[4] = {0x3c00, 0xc000, 0x7bff, 0x0001};
  const ArrayOf array(1, 0, 0, CU_AD_FORMAT_HALF, 4, 8, halves);
  const Texture texture(array.resource(), sampling(0));
  const float expected[4] = {1, -2, 65504, 5.9604644775390625e-8f};
  const auto floats = results(fetch("tex.1d.v4.f32.f32", "{%f0}"), texture, {coordinates(0.5f)});
  for (size_t c = 0; c < 4; ++c) EXPECT_EQUAL_AT(c, as_float(floats[0][c]), expected[c]);
  const auto same = results(
      "tex.1d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%rd0, {%f0}]; mov.b32 %d0, {%h0, %h1}; mov.b32 %d1, {%h2, %h3}; "
      "tex.1d.v2.f16x2.f32 {%d2, %d3}, [%rd0, {%f0}];",
      texture, {coordinates(0.5f)});
  EXPECT_EQUAL(same[0][0], 0xc0003c00u);
  EXPECT_EQUAL(same[0][1], 0x00017bffu);
  EXPECT_EQUAL(same[0][2], same[0][0]);
  EXPECT_EQUAL(same[0][3], same[0][1]);
}

CASE(texels_outside_fetched_by_number_are_zero) {
  const auto data = squares(16);
  const ArrayOf array(4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 4, data.data());
  const Texture texture(array.resource(), sampling(kNormalized, CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR));
  const auto got = results(fetch("tex.2d.v4.f32.s32", "{%r0, %r1}"), texture, {{2, 1}, {~0u, 1}, {4, 1}, {3, 4}});
  EXPECT_EQUAL(as_float(got[0][0]), data[6]);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQUAL_AT(i, as_float(got[i][0]), 0.0f);
}

CASE(layers_are_chosen_by_number) {
  const auto data = squares(24);
  const ArrayOf planes(3, 2, 4, CU_AD_FORMAT_FLOAT, 1, 4, data.data(), CUDA_ARRAY3D_LAYERED);
  const Texture plane(planes.resource(), sampling(0));
  std::vector<Word4> words;
  for (uint32_t layer = 0; layer < 6; ++layer) words.push_back({layer, as_word(1.5f), as_word(1.5f), 0});
  auto got = results(fetch("tex.a2d.v4.f32.f32", "{%r0, %f1, %f2, %f2}"), plane, words);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQUAL_AT(i, as_float(got[i][0]), data[std::min<size_t>(i, 3) * 6 + 4]);
  const ArrayOf lines(6, 0, 4, CU_AD_FORMAT_FLOAT, 1, 4, data.data(), CUDA_ARRAY3D_LAYERED);
  const Texture line(lines.resource(), sampling(0));
  got = results(fetch("tex.a1d.v4.f32.f32", "{%r0, %f1}"), line, words);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQUAL_AT(i, as_float(got[i][0]), data[std::min<size_t>(i, 3) * 6 + 1]);
}

/// The guide's table of faces.
double on_cube(const std::vector<float>& data, float x, float y, float z, size_t cube) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  size_t face = 0;
  double m = 0, s = 0, t = 0;
  if (ax > ay && ax > az)
    face = x < 0, m = ax, s = x < 0 ? z : -z, t = -y;
  else if (ay > az)
    face = y < 0 ? 3u : 2u, m = ay, s = x, t = y < 0 ? -z : z;
  else
    face = z < 0 ? 5u : 4u, m = az, s = z < 0 ? -x : x, t = -y;
  const auto index = [m](double c) { return static_cast<size_t>(std::min(std::floor((c / m + 1) / 2 * 4), 3.0)); };
  return data[((cube * 6 + face) * 4 + index(t)) * 4 + index(s)];
}

CASE(cubes_have_six_faces) {
  const auto data = squares(2 * 6 * 16);
  const ArrayOf cube(4, 4, 6, CU_AD_FORMAT_FLOAT, 1, 4, data.data(), CUDA_ARRAY3D_CUBEMAP);
  const ArrayOf cubes(4, 4, 12, CU_AD_FORMAT_FLOAT, 1, 4, data.data(), CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
  const Texture one(cube.resource(), sampling(kNormalized)), many(cubes.resource(), sampling(kNormalized));
  Random random;
  std::vector<Word4> words(96), layered(96);
  std::vector<std::array<float, 3>> asked(96);
  for (size_t i = 0; i < words.size(); ++i) {
    for (float& c : asked[i]) c = random.next(-1, 1, 16);
    words[i] = coordinates(asked[i][0], asked[i][1], asked[i][2]);
    layered[i] = {static_cast<uint32_t>(i % 2), words[i][0], words[i][1], words[i][2]};
  }
  const auto got = results(fetch("tex.cube.v4.f32.f32", "{%f0, %f1, %f2, %f2}"), one, words);
  const auto got_layered = results(fetch("tex.acube.v4.f32.f32", "{%r0, %f1, %f2, %f3}"), many, layered);
  for (size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQUAL_AT(i, as_float(got[i][0]), on_cube(data, asked[i][0], asked[i][1], asked[i][2], 0));
    EXPECT_EQUAL_AT(i, as_float(got_layered[i][0]), on_cube(data, asked[i][0], asked[i][1], asked[i][2], i % 2));
  }
}

CASE(gathers_take_four_texels) {
  std::vector<float> data(4 * 4 * 2);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const ArrayOf array(4, 4, 0, CU_AD_FORMAT_FLOAT, 2, 8, data.data(), CUDA_ARRAY3D_TEXTURE_GATHER);
  const Texture texture(array.resource(), sampling(0));
  for (const size_t channel : {0u, 1u}) {
    const auto got = results(fetch(channel ? "tld4.g.2d.v4.f32.f32" : "tld4.r.2d.v4.f32.f32", "{%f0, %f1}"), texture,
                             {coordinates(2.0f, 2.0f), coordinates(0.2f, 3.9f)});
    // (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j), of the texels that a linear filter takes.
    const size_t expected[2][4] = {{9, 10, 6, 5}, {12, 12, 12, 12}};
    for (size_t i = 0; i < 8; ++i)
      EXPECT_EQUAL_AT(i, as_float(got[i / 4][i % 4]), data[expected[i / 4][i % 4] * 2 + channel]);
  }
}

CASE(textures_tell_their_size) {
  const ArrayOf array(7, 3, 0, CU_AD_FORMAT_SIGNED_INT16, 2, 4, nullptr);
  const Texture texture(array.resource(), sampling(kInteger));
  const auto got = results("txq.width.b32 %d0, [%rd0]; txq.height.b32 %d1, [%rd0];", texture, {{}});
  EXPECT_EQUAL(got[0][0], 7u);
  EXPECT_EQUAL(got[0][1], 3u);
}

// ---- surfaces ----

CASE(surfaces_are_read_and_written_by_bytes) {
  std::vector<uint32_t> data(4 * 3);
  for (uint32_t i = 0; i < 12; ++i) data[i] = 0x01020300 + i;
  const ArrayOf array(4, 3, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, data.data(), CUDA_ARRAY3D_SURFACE_LDST);
  const Surface surface(array.resource());
  auto got = results(
      "suld.b.2d.b32.trap %d0, [%rd0, {%r0, %r1}]; suld.b.2d.b32.clamp %d1, [%rd0, {%r2, %r1}]; "
      "suld.b.2d.b32.zero %d2, [%rd0, {%r2, %r1}]; suld.b.2d.v2.b16.trap {%h0, %h1}, [%rd0, {%r0, %r1}]; "
      "mov.b32 %d3, {%h0, %h1};",
      surface, {{8, 1, 40, 0}, {4, 2, ~3u, 0}});
  const uint32_t expected[2][4] = {{data[6], data[7], 0, data[6]}, {data[9], data[8], 0, data[9]}};
  for (size_t i = 0; i < 8; ++i) EXPECT_EQUAL_AT(i, got[i / 4][i % 4], expected[i / 4][i % 4]);
  results(
      "sust.b.2d.b32.trap [%rd0, {%r0, %r1}], %r2; sust.b.2d.b32.zero [%rd0, {100, %r1}], %r2; "
      "cvt.u16.u32 %h0, %r3; sust.b.2d.b8.clamp [%rd0, {100, 0}], %h0;",
      surface, {{4, 1, 0xcafe, 0x77}});
  data[5] = 0xcafe;
  data[3] = (data[3] & 0xffffff) | 0x77000000;
  std::vector<uint32_t> after(12);
  array.copy(nullptr, after.data());
  for (size_t i = 0; i < 12; ++i) EXPECT_EQUAL_AT(i, after[i], data[i]);
}

CASE(surfaces_have_layers_and_slices) {
  std::vector<uint32_t> data(4 * 3 * 2, 0);
  const ArrayOf layers(4, 3, 2, CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, data.data(),
                       CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED);
  const ArrayOf volume(4, 3, 2, CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, data.data(), CUDA_ARRAY3D_SURFACE_LDST);
  const Surface layered(layers.resource()), whole(volume.resource());
  results("sust.b.a2d.b32.trap [%rd0, {1, 8, 2, 0}], %r0;", layered, {{55}});
  results("sust.b.3d.b32.trap [%rd0, {12, 1, 1, 0}], %r0;", whole, {{66}});
  std::vector<uint32_t> after(24);
  layers.copy(nullptr, after.data());
  EXPECT_EQUAL(after[12 + 2 * 4 + 2], 55u);
  EXPECT_EQUAL(std::count(after.begin(), after.end(), 0u), 23);
  volume.copy(nullptr, after.data());
  EXPECT_EQUAL(after[12 + 1 * 4 + 3], 66u);
  EXPECT_EQUAL(std::count(after.begin(), after.end(), 0u), 23);
}

CASE(reductions_on_surfaces_are_atomic) {
  std::vector<uint32_t> data = {0, 5, 7, 0xff};
  const ArrayOf array(4, 1, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, data.data(), CUDA_ARRAY3D_SURFACE_LDST);
  const Surface surface(array.resource());
  std::vector<Word4> words(200);
  for (uint32_t i = 0; i < 200; ++i) words[i] = {i, 0, 0, 0};
  results(
      "sured.b.2d.add.u32.trap [%rd0, {0, 0}], %r0; sured.b.2d.max.u32.trap [%rd0, {4, 0}], %r0; "
      "sured.b.2d.min.s32.trap [%rd0, {8, 0}], -9; sured.b.2d.and.b32.trap [%rd0, {12, 0}], 0x3c; "
      "sured.b.2d.add.u32.zero [%rd0, {16, 0}], 1;",
      surface, words);
  array.copy(nullptr, data.data());
  EXPECT_EQUAL(data[0], 199u * 200 / 2);
  EXPECT_EQUAL(data[1], 199u);
  EXPECT_EQUAL(data[2], static_cast<uint32_t>(-9));
  EXPECT_EQUAL(data[3], 0x3cu);
}

// What is too large for a channel was measured on a GPU.
CASE(formatted_stores_convert) {
  const uint32_t nothing[4] = {};
  const ArrayOf bytes(2, 2, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, nothing, CUDA_ARRAY3D_SURFACE_LDST);
  const ArrayOf chars(2, 2, 0, CU_AD_FORMAT_SIGNED_INT8, 2, 2, nothing, CUDA_ARRAY3D_SURFACE_LDST);
  const ArrayOf halves(2, 2, 0, CU_AD_FORMAT_HALF, 2, 4, nothing, CUDA_ARRAY3D_SURFACE_LDST);
  const std::string store = "sust.p.2d.v4.b32.clamp [%rd0, {1, 1}], {%r0, %r1, %r2, %r3};";
  const Word4 words = {0x12345, 0x42, 0, 255};
  results(store, Surface(bytes.resource()), {words});
  results(store, Surface(chars.resource()), {{0x12345, 0xfffffff0}});
  results(store, Surface(halves.resource()), {coordinates(1.5f, -2.0f)});
  uint8_t got[16] = {};
  bytes.copy(nullptr, got);
  const uint8_t expected[4] = {255, 0x42, 0, 255};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQUAL_AT(i, got[12 + i], expected[i]);
  chars.copy(nullptr, got);
  EXPECT_EQUAL(got[6], 0x7f);
  EXPECT_EQUAL(got[7], 0xf0);
  uint16_t half[8] = {};
  halves.copy(nullptr, half);
  EXPECT_EQUAL(half[6], 0x3e00);
  EXPECT_EQUAL(half[7], 0xc000);
}

// The forms that public programs have, each once.
CASE(stores_of_public_programs_reach_their_place) {
  std::vector<uint32_t> zero(4 * 4 * 4 * 2);
  const ArrayOf line(4, 0, 0, CU_AD_FORMAT_FLOAT, 4, 16, zero.data(), CUDA_ARRAY3D_SURFACE_LDST);
  const ArrayOf plane(4, 4, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, zero.data(), CUDA_ARRAY3D_SURFACE_LDST);
  const ArrayOf volume(4, 4, 2, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1, zero.data(), CUDA_ARRAY3D_SURFACE_LDST);
  const ArrayOf layers(4, 4, 2, CU_AD_FORMAT_FLOAT, 4, 16, zero.data(),
                       CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED);
  const Word4 words = {0x11, 0x22, 0x33, 0x144};
  const std::string halves = "cvt.u16.u32 %h0, %r0; cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; ";
  results("sust.b.1d.v4.b32.trap [%rd0, {32}], {%r0, %r1, %r2, %r3};", Surface(line.resource()), {words});
  results(halves + "sust.b.2d.v4.b8.trap [%rd0, {4, 2}], {%h0, %h1, %h2, %h3};", Surface(plane.resource()), {words});
  results(halves + "sust.b.3d.b8.trap [%rd0, {3, 1, 1, 0}], %h3;", Surface(volume.resource()), {words});
  results("sust.b.a2d.v4.b32.trap [%rd0, {1, 16, 2, 0}], {%r0, %r1, %r2, %r3};", Surface(layers.resource()), {words});
  std::vector<uint32_t> got(zero.size());
  line.copy(nullptr, got.data());
  for (size_t i = 0; i < 16; ++i) EXPECT_EQUAL_AT(i, got[i], i / 4 == 2 ? words[i % 4] : 0);
  plane.copy(nullptr, got.data());
  for (size_t i = 0; i < 16; ++i) EXPECT_EQUAL_AT(i, got[i], i == 9 ? 0x44332211 : 0);
  std::vector<uint8_t> bytes(32);
  volume.copy(nullptr, bytes.data());
  for (size_t i = 0; i < 32; ++i) EXPECT_EQUAL_AT(i, bytes[i], i == 16 + 4 + 3 ? 0x44 : 0);
  layers.copy(nullptr, got.data());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQUAL_AT(i, got[i], i / 4 == 16 + 8 + 1 ? words[i % 4] : 0);
}

CASE(integer_textures_of_two_dimensions_are_read) {
  const uint32_t data[4] = {0xdeadbeef, 5, 6, 7};
  const ArrayOf array(2, 2, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, data);
  const Texture texture(array.resource(), sampling(0));
  const auto got =
      results(fetch("tex.2d.v4.u32.f32", "{%f0, %f1}"), texture, {coordinates(0.5f, 0.5f), coordinates(1.5f, 1.5f)});
  EXPECT_EQUAL(got[0][0], data[0]);
  EXPECT_EQUAL(got[1][0], data[3]);
}

// ---- arrays and objects ----

CASE(arrays_tell_their_shape) {
  check::use_context();
  const CUDA_ARRAY_DESCRIPTOR plane{12, 5, CU_AD_FORMAT_SIGNED_INT16, 2};
  CUarray array = nullptr;
  CU_OK(cuArrayCreate(&array, &plane));
  CUDA_ARRAY_DESCRIPTOR got{};
  CU_OK(cuArrayGetDescriptor(&got, array));
  EXPECT(got.Width == 12 && got.Height == 5 && got.Format == CU_AD_FORMAT_SIGNED_INT16 && got.NumChannels == 2);
  CUDA_ARRAY3D_DESCRIPTOR whole{};
  CU_OK(cuArray3DGetDescriptor(&whole, array));
  EXPECT(whole.Width == 12 && whole.Height == 5 && whole.Depth == 0 && whole.Flags == 0);
  CU_OK(cuArrayDestroy(array));
  CUDA_ARRAY_DESCRIPTOR bad = plane;
  bad.NumChannels = 3;
  EXPECT_CUDA(cuArrayCreate(&array, &bad), CUDA_ERROR_INVALID_VALUE);
  bad = plane, bad.Width = 0;
  EXPECT_CUDA(cuArrayCreate(&array, &bad), CUDA_ERROR_INVALID_VALUE);
  const CUDA_ARRAY3D_DESCRIPTOR oblong{4, 5, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP};
  EXPECT_CUDA(cuArray3DCreate(&array, &oblong), CUDA_ERROR_INVALID_VALUE);
}

CASE(parts_of_arrays_are_copied) {
  const auto data = squares(24);
  const ArrayOf array(4, 3, 2, CU_AD_FORMAT_FLOAT, 1, 4, data.data());
  float part[2][2] = {};
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = CU_MEMORYTYPE_ARRAY, c.srcArray = array.handle;
  c.srcXInBytes = 4, c.srcY = 1, c.srcZ = 1;
  c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = part, c.dstPitch = 8;
  c.WidthInBytes = 8, c.Height = 2, c.Depth = 1;
  CU_OK(cuMemcpy3D(&c));
  for (size_t i = 0; i < 4; ++i) EXPECT_EQUAL_AT(i, part[i / 2][i % 2], data[12 + (1 + i / 2) * 4 + 1 + i % 2]);
  c.Height = 3;
  EXPECT_CUDA(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
  const ArrayOf other(4, 3, 0, CU_AD_FORMAT_FLOAT, 1, 4, data.data());
  CUDA_MEMCPY2D between{};
  between.srcMemoryType = between.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  between.srcArray = between.dstArray = other.handle;
  between.srcY = 2, between.WidthInBytes = 16, between.Height = 1;
  CU_OK(cuMemcpy2D(&between));
  float rows[12];
  other.copy(nullptr, rows);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQUAL_AT(i, rows[i], data[8 + i]);
}

CASE(objects_tell_what_they_are_made_of) {
  const ArrayOf array(4, 3, 0, CU_AD_FORMAT_FLOAT, 1, 4, nullptr, CUDA_ARRAY3D_SURFACE_LDST);
  const Texture texture(array.resource(), sampling(kNormalized, CU_TR_ADDRESS_MODE_MIRROR));
  const Surface surface(array.resource());
  CUDA_RESOURCE_DESC resource{};
  CU_OK(cuTexObjectGetResourceDesc(&resource, texture));
  EXPECT(resource.resType == CU_RESOURCE_TYPE_ARRAY && resource.res.array.hArray == array.handle);
  resource = {};
  CU_OK(cuSurfObjectGetResourceDesc(&resource, surface));
  EXPECT(resource.resType == CU_RESOURCE_TYPE_ARRAY && resource.res.array.hArray == array.handle);
  CUDA_TEXTURE_DESC made{};
  CU_OK(cuTexObjectGetTextureDesc(&made, texture));
  EXPECT(made.addressMode[1] == CU_TR_ADDRESS_MODE_MIRROR && made.flags == kNormalized);
}

CASE(what_cannot_be_sampled_is_refused) {
  check::use_context();
  CUdeviceptr memory = 0;
  CU_OK(cuMemAlloc(&memory, 4096));
  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_PITCH2D;
  r.res.pitch2D.devPtr = memory;
  r.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
  r.res.pitch2D.numChannels = 1;
  r.res.pitch2D.width = 16, r.res.pitch2D.height = 3, r.res.pitch2D.pitchInBytes = 64;
  const CUDA_TEXTURE_DESC how = sampling(0);
  CUtexObject object = 0;
  EXPECT_CUDA(cuTexObjectCreate(nullptr, &r, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
  r.res.pitch2D.numChannels = 3;
  EXPECT_CUDA(cuTexObjectCreate(&object, &r, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUsurfObject surface = 0;
  EXPECT_CUDA(cuSurfObjectCreate(&surface, &r), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(memory));
}

}  // namespace

CHECK_MAIN()
