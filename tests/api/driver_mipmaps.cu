// Mipmapped arrays and the levels that PTX reads of them. Oracle: "CUDA Driver API, Memory Management"
// (cuMipmappedArrayCreate), "Texture Object Management" (CUDA_TEXTURE_DESC: bias and clamps); "PTX ISA, Texture
// Instructions: tex, txq". Gradients are powers of two, so that their levels are whole.

#include <algorithm>

#include "textures.h"

namespace {

using namespace check;

/// What texel i of a level holds.
float value_of(size_t level, size_t i) {
  return static_cast<float>(1024 * level + i);
}

/// A mipmapped array of f32 with these values.
struct Mipmapped {
  CUmipmappedArray handle = nullptr;
  std::vector<CUarray> levels;
  std::vector<CUDA_ARRAY3D_DESCRIPTOR> shapes;

  Mipmapped(size_t width, size_t height, size_t depth, unsigned count, unsigned flags = 0) {
    use_context();
    const CUDA_ARRAY3D_DESCRIPTOR whole{width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
    CU_OK(cuMipmappedArrayCreate(&handle, &whole, count));
    for (unsigned l = 0; l < count; ++l) {
      levels.push_back(nullptr);
      CU_OK(cuMipmappedArrayGetLevel(&levels[l], handle, l));
      shapes.emplace_back();
      CU_OK(cuArray3DGetDescriptor(&shapes[l], levels[l]));
      const CUDA_ARRAY3D_DESCRIPTOR& s = shapes[l];
      std::vector<float> data(s.Width * std::max<size_t>(s.Height, 1) * std::max<size_t>(s.Depth, 1));
      for (size_t i = 0; i < data.size(); ++i) data[i] = value_of(l, i);
      copy_texels(levels[l], s, 4, data.data(), nullptr);
    }
  }
  ~Mipmapped() { CU_OK(cuMipmappedArrayDestroy(handle)); }
  Mipmapped(const Mipmapped&) = delete;

  CUDA_RESOURCE_DESC resource() const {
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = handle;
    return r;
  }

  /// What a point filter finds at normalised coordinates. A layer or face is a slice.
  float texel(size_t level, float x, float y = 0, float z = 0, size_t slice = 0) const {
    const CUDA_ARRAY3D_DESCRIPTOR& s = shapes[level];
    const size_t height = std::max<size_t>(s.Height, 1);
    const auto index = [](float c, size_t size) { return static_cast<size_t>(c * static_cast<float>(size)); };
    const size_t plane = (s.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) ? slice : index(z, s.Depth);
    return value_of(level, (plane * height + index(y, height)) * s.Width + index(x, s.Width));
  }
};

/// With all levels, which the clamps that are zero would not give.
CUDA_TEXTURE_DESC all_levels(CUfilter_mode between = CU_TR_FILTER_MODE_POINT) {
  CUDA_TEXTURE_DESC t = sampling(kNormalized);
  t.mipmapFilterMode = between;
  t.maxMipmapLevelClamp = 100;
  return t;
}

/// %k0 to %k6 are 0, 0.25, 0.5, 1, 2, 0.3 and 0.7; %n is 1.
constexpr const char* kNumbers = R"(.reg .f32 %k<7>; .reg .b32 %n; mov.b32 %n, 1; mov.f32 %k0, 0f00000000;
mov.f32 %k1, 0f3e800000; mov.f32 %k2, 0f3f000000; mov.f32 %k3, 0f3f800000; mov.f32 %k4, 0f40000000;
mov.f32 %k5, 0f3e99999a; mov.f32 %k6, 0f3f333333;
)";

/// A fetch's words, and the first channel that it is to give.
struct Fetch {
  Word4 words;
  float expected;
};

void expect_all(const std::string& instruction, const Texture& texture, const std::vector<Fetch>& fetches) {
  std::vector<Word4> words;
  for (const Fetch& each : fetches) words.push_back(each.words);
  const auto got = results(kNumbers + instruction, texture, words);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQUAL_AT(i, as_float(got[i][0]), fetches[i].expected);
}

CASE(levels_halve_down_to_one) {
  use_context();
  struct Shape {
    size_t width, height, depth;
    unsigned flags, asked, levels;
  };
  const Shape shapes[] = {{9, 0, 0, 0, 99, 4},
                          {12, 5, 0, 0, 99, 4},
                          {12, 5, 0, 0, 2, 2},
                          {5, 12, 0, 0, 0, 1},
                          {4, 6, 20, 0, 99, 5},
                          {8, 0, 3, CUDA_ARRAY3D_LAYERED, 99, 4},
                          {8, 4, 3, CUDA_ARRAY3D_LAYERED, 99, 4},
                          {8, 8, 6, CUDA_ARRAY3D_CUBEMAP, 99, 4},
                          {4, 4, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 3, 3}};
  for (const Shape& shape : shapes) {
    const CUDA_ARRAY3D_DESCRIPTOR whole{shape.width, shape.height, shape.depth, CU_AD_FORMAT_SIGNED_INT16,
                                        2,           shape.flags};
    CUmipmappedArray array = nullptr;
    CU_OK(cuMipmappedArrayCreate(&array, &whole, shape.asked));
    CUarray level = nullptr;
    for (unsigned l = 0; l < shape.levels; ++l) {
      CU_OK(cuMipmappedArrayGetLevel(&level, array, l));
      CUDA_ARRAY3D_DESCRIPTOR got{};
      CU_OK(cuArray3DGetDescriptor(&got, level));
      const auto half = [l](size_t extent) { return extent ? std::max<size_t>(extent >> l, 1) : 0; };
      EXPECT_EQUAL_AT(l, got.Width, half(shape.width));
      EXPECT_EQUAL_AT(l, got.Height, half(shape.height));
      EXPECT_EQUAL_AT(l, got.Depth, shape.flags ? shape.depth : half(shape.depth));
      EXPECT(got.Format == CU_AD_FORMAT_SIGNED_INT16 && got.NumChannels == 2 && got.Flags == shape.flags);
    }
    EXPECT_CUDA(cuMipmappedArrayGetLevel(&level, array, shape.levels), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CUDA(cuMipmappedArrayGetLevel(nullptr, array, 0), CUDA_ERROR_INVALID_VALUE);
    CU_OK(cuMipmappedArrayDestroy(array));
  }
}

CASE(shapes_that_are_none_are_refused) {
  use_context();
  const CUDA_ARRAY3D_DESCRIPTOR good{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray array = nullptr;
  EXPECT_CUDA(cuMipmappedArrayCreate(nullptr, &good, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMipmappedArrayCreate(&array, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY3D_DESCRIPTOR bad = good;
  bad.Width = 0;
  EXPECT_CUDA(cuMipmappedArrayCreate(&array, &bad, 1), CUDA_ERROR_INVALID_VALUE);
  bad = good, bad.NumChannels = 3;
  EXPECT_CUDA(cuMipmappedArrayCreate(&array, &bad, 1), CUDA_ERROR_INVALID_VALUE);
  bad = {8, 4, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP};
  EXPECT_CUDA(cuMipmappedArrayCreate(&array, &bad, 1), CUDA_ERROR_INVALID_VALUE);
  int width = 0;
  CU_OK(cuDeviceGetAttribute(&width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, the_device()));
  bad = {static_cast<size_t>(width) + 1, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
  EXPECT_CUDA(cuMipmappedArrayCreate(&array, &bad, 1), CUDA_ERROR_INVALID_VALUE);
}

CASE(levels_are_arrays) {
  const Mipmapped array(8, 4, 0, 3);
  CUarray again = nullptr;
  CU_OK(cuMipmappedArrayGetLevel(&again, array.handle, 1));
  std::vector<float> back(8);
  copy_texels(again, array.shapes[1], 4, nullptr, back.data());
  for (size_t i = 0; i < 8; ++i) EXPECT_EQUAL_AT(i, back[i], value_of(1, i));
  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_ARRAY;
  r.res.array.hArray = array.levels[2];
  const Texture texture(r, sampling(0));
  expect_all(fetch("tex.2d.v4.f32.f32", "{%f0, %f1}"), texture, {{coordinates(1.5f, 0.5f), value_of(2, 1)}});
}

CASE(levels_are_read_by_number) {
  const Mipmapped array(16, 8, 0, 5);
  const Texture texture(array.resource(), all_levels());
  std::vector<Fetch> fetches;
  for (size_t l = 0; l < 5; ++l)
    for (const float x : {0.03f, 0.45f, 0.97f})
      for (const float offset : {-0.3f, 0.0f, 0.3f})
        fetches.push_back({coordinates(x, 0.7f, static_cast<float>(l) + offset), array.texel(l, x, 0.7f)});
  for (const float outside : {-7.0f, 4.7f, 1e30f})
    fetches.push_back({coordinates(0.3f, 0.7f, outside), array.texel(outside < 0 ? 0 : 4, 0.3f, 0.7f)});
  expect_all(fetch("tex.level.2d.v4.f32.f32", "{%f0, %f1}", ", %f2"), texture, fetches);
  for (const char* form : {"tex.2d.v4.f32.f32", "tex.base.2d.v4.f32.f32"})
    expect_all(fetch(form, "{%f0, %f1}"), texture, {{coordinates(0.3f, 0.7f), array.texel(0, 0.3f, 0.7f)}});
}

/// What a filter between levels makes of the texels at the coordinates.
float mixed(const Mipmapped& array, float level, float x, float y) {
  const auto finer = static_cast<size_t>(level), last = array.levels.size() - 1;
  const float a = array.texel(finer, x, y), b = array.texel(std::min(finer + 1, last), x, y);
  return a + (level - static_cast<float>(finer)) * (b - a);
}

CASE(a_filter_mixes_two_levels) {
  const Mipmapped array(8, 8, 0, 4);
  const Texture texture(array.resource(), all_levels(CU_TR_FILTER_MODE_LINEAR));
  std::vector<Fetch> fetches;
  for (const float level : {0.0f, 0.25f, 0.5f, 1.0f, 1.75f, 2.5f, 3.0f, 9.5f})
    fetches.push_back({coordinates(0.6f, 0.2f, level), mixed(array, std::min(level, 3.0f), 0.6f, 0.2f)});
  expect_all(fetch("tex.level.2d.v4.f32.f32", "{%f0, %f1}", ", %f2"), texture, fetches);
}

CASE(each_level_has_its_own_texels_to_filter) {
  const Mipmapped array(8, 0, 0, 3);
  CUDA_TEXTURE_DESC how = all_levels();
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  const Texture texture(array.resource(), how);
  expect_all(fetch("tex.level.1d.v4.f32.f32", "{%f0}", ", %f1"), texture,
             {{coordinates(0.5f, 0), value_of(0, 3) + 0.5f},
              {coordinates(0.5f, 1), value_of(1, 1) + 0.5f},
              {coordinates(0.375f, 1), value_of(1, 1)},
              {coordinates(0.5f, 2), value_of(2, 0) + 0.5f}});
}

CASE(levels_have_a_bias_and_clamps) {
  const Mipmapped array(16, 16, 0, 5);
  struct Way {
    float bias, least, most;
  };
  for (const Way& way : {Way{1, 0, 100}, Way{-2, 0, 100}, Way{0, 1, 3}, Way{0.25f, 0, 2}, Way{-0.5f, 1.5f, 2.5f}}) {
    CUDA_TEXTURE_DESC how = all_levels(CU_TR_FILTER_MODE_LINEAR);
    how.mipmapLevelBias = way.bias, how.minMipmapLevelClamp = way.least, how.maxMipmapLevelClamp = way.most;
    const Texture texture(array.resource(), how);
    std::vector<Fetch> fetches;
    for (const float asked : {0.0f, 1.0f, 2.5f, 3.0f, 4.0f}) {
      const float level = std::min(std::max(asked + way.bias, way.least), std::min(way.most, 4.0f));
      fetches.push_back({coordinates(0.1f, 0.9f, asked), mixed(array, level, 0.1f, 0.9f)});
    }
    expect_all(fetch("tex.level.2d.v4.f32.f32", "{%f0, %f1}", ", %f2"), texture, fetches);
  }
}

CASE(gradients_choose_the_level_of_their_length) {
  const Mipmapped array(16, 16, 0, 5);
  const Texture texture(array.resource(), all_levels());
  std::vector<Fetch> fetches = {{coordinates(0, 0, 0, 0), array.texel(0, 0.3f, 0.7f)},
                                {coordinates(0.001f, 0, 0, 0), array.texel(0, 0.3f, 0.7f)},
                                {coordinates(50, 0, 0, 0), array.texel(4, 0.3f, 0.7f)}};
  for (size_t l = 0; l < 5; ++l) {
    const float step = static_cast<float>(1u << l) / 16;  // as many texels of level zero
    const Word4 asked[] = {coordinates(step, 0, 0, 0),        coordinates(0, step, 0, 0),
                           coordinates(0, 0, -step, 0),       coordinates(0, 0, 0, step),
                           coordinates(step / 4, 0, 0, step), coordinates(0, -step, step / 2, 0),
                           coordinates(step, 0, 0, step)};
    for (const Word4& words : asked) fetches.push_back({words, array.texel(l, 0.3f, 0.7f)});
  }
  expect_all(fetch("tex.grad.2d.v4.f32.f32", "{%k5, %k6}", ", {%f0, %f1}, {%f2, %f3}"), texture, fetches);
}

CASE(every_geometry_has_levels_and_gradients) {
  struct Geometry {
    const char *name, *list, *gradients;
    size_t width, height, depth;
    unsigned flags;
    size_t slice;
  };
  // A gradient of a quarter of the texture, which is two texels of level zero: level 1.
  const Geometry geometries[] = {
      {"1d", "{%f0}", "{%k1}, {%k0}", 8, 0, 0, 0, 0},
      {"2d", "{%f0, %f1}", "{%k0, %k1}, {%k0, %k0}", 8, 8, 0, 0, 0},
      {"3d", "{%f0, %f1, %f2, %f2}", "{%k0, %k0, %k1, %k0}, {%k0, %k0, %k0, %k0}", 8, 8, 8, 0, 0},
      {"a1d", "{%r3, %f0}", "{%k1}, {%k0}", 8, 0, 3, CUDA_ARRAY3D_LAYERED, 2},
      {"a2d", "{%r3, %f0, %f1, %f1}", "{%k1, %k0}, {%k0, %k0}", 8, 8, 3, CUDA_ARRAY3D_LAYERED, 2},
  };
  for (const Geometry& g : geometries) {
    const Mipmapped array(g.width, g.height, g.depth, 4, g.flags);
    const Texture texture(array.resource(), all_levels());
    const std::string form = std::string(g.name) + ".v4.f32.f32";
    const Word4 at = {as_word(0.3f), as_word(0.6f), as_word(0.9f), static_cast<uint32_t>(g.slice)};
    const auto expected = [&](size_t level) { return array.texel(level, 0.3f, 0.6f, 0.9f, g.slice); };
    expect_all(fetch("tex." + form, g.list), texture, {{at, expected(0)}});
    expect_all(fetch("tex.level." + form, g.list, ", %k4"), texture, {{at, expected(2)}});
    expect_all(fetch("tex.grad." + form, g.list, std::string(", ") + g.gradients), texture, {{at, expected(1)}});
  }
}

CASE(cubes_have_levels) {
  const Mipmapped cube(8, 8, 6, 4, CUDA_ARRAY3D_CUBEMAP);
  const Mipmapped cubes(8, 8, 12, 4, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
  const Texture single(cube.resource(), all_levels()), several(cubes.resource(), all_levels());
  // Towards +z, whose face has (x + 1) / 2 and (1 - y) / 2, and towards -x, with (z + 1) / 2 and (1 - y) / 2.
  const auto ahead = [](float level) { return coordinates(0.3f, -0.6f, 1, level); };
  const auto left = [](float level) { return coordinates(-2, -1.2f, 0.6f, level); };
  std::vector<Fetch> of_one, of_several;
  for (const size_t l : {0u, 1u, 3u}) {
    const auto level = static_cast<float>(l);
    of_one.push_back({ahead(level), cube.texel(l, 0.65f, 0.8f, 0, 4)});
    of_one.push_back({left(level), cube.texel(l, 0.65f, 0.8f, 0, 1)});
    of_several.push_back({left(level), cubes.texel(l, 0.65f, 0.8f, 0, 7)});
  }
  const std::string list = "{%f0, %f1, %f2, %f2}", layered = "{%n, %f0, %f1, %f2}";
  expect_all(fetch("tex.level.cube.v4.f32.f32", list, ", %f3"), single, of_one);
  expect_all(fetch("tex.level.acube.v4.f32.f32", layered, ", %f3"), several, of_several);
  // On +z, x + 0.5 is a quarter of the face: two texels. On -x at distance 2 it takes a whole step of z.
  const std::string none = "{%k0, %k0, %k0, %k0}";
  expect_all(fetch("tex.grad.cube.v4.f32.f32", list, ", {%k2, %k0, %k0, %k0}, " + none), single,
             {{ahead(0), cube.texel(1, 0.65f, 0.8f, 0, 4)}});
  expect_all(fetch("tex.grad.acube.v4.f32.f32", layered, ", " + none + ", {%k0, %k0, %k3, %k0}"), several,
             {{left(0), cubes.texel(1, 0.65f, 0.8f, 0, 7)}});
}

CASE(texels_of_a_level_are_read_by_number) {
  const Mipmapped array(8, 8, 0, 4);
  const Texture texture(array.resource(), all_levels());
  expect_all(fetch("tex.level.2d.v4.f32.s32", "{%r0, %r1}", ", %r2"), texture,
             {{{3, 2, 0, 0}, value_of(0, 2 * 8 + 3)},
              {{3, 2, 1, 0}, value_of(1, 2 * 4 + 3)},
              {{1, 1, 2, 0}, value_of(2, 3)},
              {{4, 0, 1, 0}, 0}});  // outside of that level
}

CASE(levels_tell_their_size) {
  const Mipmapped array(12, 5, 0, 4);
  const Texture texture(array.resource(), all_levels());
  const auto got = results(
      "txq.width.b32 %d0, [%rd0]; txq.level.width.b32 %d1, [%rd0], %r0; "
      "txq.level.height.b32 %d2, [%rd0], %r0; txq.num_mipmap_levels.b32 %d3, [%rd0];",
      texture, {{0}, {1}, {2}, {3}});
  const uint32_t width[] = {12, 6, 3, 1}, height[] = {5, 2, 1, 1};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQUAL_AT(i, got[i][0], 12u);
    EXPECT_EQUAL_AT(i, got[i][1], width[i]);
    EXPECT_EQUAL_AT(i, got[i][2], height[i]);
    EXPECT_EQUAL_AT(i, got[i][3], 4u);
  }
}

CASE(mipmapped_textures_say_what_they_are_made_of) {
  const Mipmapped array(8, 8, 0, 2);
  CUDA_TEXTURE_DESC how = all_levels(CU_TR_FILTER_MODE_LINEAR);
  how.mipmapLevelBias = 0.5f, how.minMipmapLevelClamp = 0.25f;
  const Texture texture(array.resource(), how);
  CUDA_RESOURCE_DESC resource{};
  CU_OK(cuTexObjectGetResourceDesc(&resource, texture));
  EXPECT(resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY && resource.res.mipmap.hMipmappedArray == array.handle);
  CUDA_TEXTURE_DESC got{};
  CU_OK(cuTexObjectGetTextureDesc(&got, texture));
  EXPECT(got.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR && got.mipmapLevelBias == 0.5f);
  EXPECT(got.minMipmapLevelClamp == 0.25f && got.maxMipmapLevelClamp == 100);
  how.flags = 0;
  CUtexObject object = 0;
  resource = array.resource();
  EXPECT_CUDA(cuTexObjectCreate(&object, &resource, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUsurfObject surface = 0;
  EXPECT_CUDA(cuSurfObjectCreate(&surface, &resource), CUDA_ERROR_INVALID_VALUE);
}

CASE(no_array_is_sparse_or_waits_for_memory) {
  const Mipmapped mipmapped(8, 8, 0, 2);
  const ArrayOf plain(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 4, nullptr);
  CUDA_ARRAY_SPARSE_PROPERTIES sparse{};
  EXPECT_CUDA(cuArrayGetSparseProperties(&sparse, plain.handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMipmappedArrayGetSparseProperties(&sparse, mipmapped.handle), CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY_MEMORY_REQUIREMENTS memory{};
  EXPECT_CUDA(cuArrayGetMemoryRequirements(&memory, plain.handle, the_device()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMipmappedArrayGetMemoryRequirements(&memory, mipmapped.handle, the_device()), CUDA_ERROR_INVALID_VALUE);
  CUarray plane = nullptr;
  EXPECT_CUDA(cuArrayGetPlane(&plane, plain.handle, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

CHECK_MAIN()
