// Views of arrays, colours in sRGB, filters across the edges of cubes, and which shapes of arrays there are. Oracle:
// "CUDA Driver API, Texture Object Management" (CUDA_RESOURCE_VIEW_DESC, CU_TRSF_SRGB, CU_TRSF_SEAMLESS_CUBEMAP),
// "Memory Management" (the table of valid extents at cuArray3DCreate); IEC 61966-2-1 for sRGB.

#include <algorithm>
#include <cmath>

#include "textures.h"

namespace {

using namespace check;

CUDA_RESOURCE_VIEW_DESC view_of(const CUDA_ARRAY3D_DESCRIPTOR& shape, CUresourceViewFormat format) {
  CUDA_RESOURCE_VIEW_DESC v{};
  v.format = format;
  v.width = shape.Width, v.height = shape.Height, v.depth = shape.Depth;
  if (shape.Flags & CUDA_ARRAY3D_LAYERED) v.lastLayer = static_cast<unsigned>(shape.Depth) - 1;
  return v;
}

std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

CASE(views_see_other_texels_of_the_same_size) {
  const uint32_t data[4] = {0x04030201, 0xfffefd80, 0x3f800000, 0x40003c00};
  const ArrayOf array(4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, data);
  const std::string read = fetch("tex.1d.v4.u32.f32", "{%f0}");
  struct View {
    CUresourceViewFormat format;
    float x;
    Word4 expected;
  };
  const View views[] = {{CU_RES_VIEW_FORMAT_NONE, 1.5f, {data[1], 0, 0, 0}},
                        {CU_RES_VIEW_FORMAT_UINT_1X32, 1.5f, {data[1], 0, 0, 0}},
                        {CU_RES_VIEW_FORMAT_UINT_4X8, 0.5f, {1, 2, 3, 4}},
                        {CU_RES_VIEW_FORMAT_SINT_4X8, 1.5f, {~127u, ~2u, ~1u, ~0u}},
                        {CU_RES_VIEW_FORMAT_SINT_2X16, 1.5f, {~0x27fu, ~1u, 0, 0}},
                        {CU_RES_VIEW_FORMAT_FLOAT_1X32, 2.5f, {data[2], 0, 0, 0}},
                        {CU_RES_VIEW_FORMAT_FLOAT_2X16, 3.5f, {as_word(1), as_word(2), 0, 0}}};
  for (const View& each : views) {
    const CUDA_RESOURCE_VIEW_DESC view = view_of(array.shape, each.format);
    const Texture texture(array.resource(), sampling(kInteger), &view);
    const auto got = results(read, texture, {coordinates(each.x)});
    for (size_t c = 0; c < 4; ++c) EXPECT_EQUAL_AT(static_cast<int>(each.format), got[0][c], each.expected[c]);
    CUDA_RESOURCE_VIEW_DESC made{};
    CU_OK(cuTexObjectGetResourceViewDesc(&made, texture));
    EXPECT(made.format == each.format && made.width == 4 && made.lastLayer == 0);
  }
  const Texture whole(array.resource(), sampling(kInteger));
  CUDA_RESOURCE_VIEW_DESC none{};
  CU_OK(cuTexObjectGetResourceViewDesc(&none, whole));  // it was made without one. Oracle: an H200 (driver 580)
  EXPECT_CUDA(cuTexObjectGetResourceViewDesc(nullptr, whole), CUDA_ERROR_INVALID_VALUE);
}

CASE(views_see_some_layers) {
  const auto data = counted(4 * 2 * 5);
  const ArrayOf array(4, 2, 5, CU_AD_FORMAT_FLOAT, 1, 4, data.data(), CUDA_ARRAY3D_LAYERED);
  CUDA_RESOURCE_VIEW_DESC view = view_of(array.shape, CU_RES_VIEW_FORMAT_FLOAT_1X32);
  view.firstLayer = 1, view.lastLayer = 3;
  const Texture texture(array.resource(), sampling(0), &view);
  std::vector<Word4> words;
  for (uint32_t layer = 0; layer < 5; ++layer) words.push_back({layer, as_word(2.5f), as_word(1.5f), 0});
  const auto got = results(fetch("tex.a2d.v4.f32.f32", "{%r0, %f1, %f2, %f2}"), texture, words);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQUAL_AT(i, as_float(got[i][0]), data[(1 + std::min<size_t>(i, 2)) * 8 + 6]);
}

CASE(views_see_some_levels) {
  use_context();
  const CUDA_ARRAY3D_DESCRIPTOR shape{16, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray array = nullptr;
  CU_OK(cuMipmappedArrayCreate(&array, &shape, 5));
  for (unsigned l = 0; l < 5; ++l) {
    CUarray level = nullptr;
    CU_OK(cuMipmappedArrayGetLevel(&level, array, l));
    CUDA_ARRAY3D_DESCRIPTOR of_level{};
    CU_OK(cuArray3DGetDescriptor(&of_level, level));
    const std::vector<float> data(of_level.Width, static_cast<float>(l * 8));
    copy_texels(level, of_level, 4, data.data(), nullptr);
  }
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = array;
  CUDA_RESOURCE_VIEW_DESC view = view_of(shape, CU_RES_VIEW_FORMAT_NONE);
  view.firstMipmapLevel = 1, view.lastMipmapLevel = 3;
  CUDA_TEXTURE_DESC how = sampling(kNormalized);
  how.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  how.minMipmapLevelClamp = 0.25f, how.maxMipmapLevelClamp = 9;  // counted from the view's first level
  {
    const Texture texture(resource, how, &view);
    const std::string read = fetch("tex.level.1d.v4.f32.f32", "{%f0}", ", %f1");
    const auto got = results(
        read, texture, {coordinates(0.3f, 0), coordinates(0.3f, 1), coordinates(0.3f, 1.5f), coordinates(0.3f, 7)});
    const float expected[] = {10, 16, 20, 24};
    for (size_t i = 0; i < 4; ++i) EXPECT_EQUAL_AT(i, as_float(got[i][0]), expected[i]);
  }
  CUtexObject object = 0;
  view.lastMipmapLevel = 5;
  EXPECT_CUDA(cuTexObjectCreate(&object, &resource, &how, &view), CUDA_ERROR_INVALID_VALUE);
  view.firstMipmapLevel = 3, view.lastMipmapLevel = 2;
  EXPECT_CUDA(cuTexObjectCreate(&object, &resource, &how, &view), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMipmappedArrayDestroy(array));
}

CASE(views_that_do_not_fit_are_refused) {
  const ArrayOf array(4, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, nullptr);
  const CUDA_RESOURCE_DESC resource = array.resource();
  const CUDA_TEXTURE_DESC how = sampling(kInteger);
  CUtexObject object = 0;
  const auto refused = [&](CUDA_RESOURCE_VIEW_DESC view) {
    EXPECT_CUDA(cuTexObjectCreate(&object, &resource, &how, &view), CUDA_ERROR_INVALID_VALUE);
  };
  const CUDA_RESOURCE_VIEW_DESC good = view_of(array.shape, CU_RES_VIEW_FORMAT_UINT_4X8);
  CUDA_RESOURCE_VIEW_DESC bad = good;
  bad.width = 8;
  refused(bad);
  bad = good, bad.height = 2;
  refused(bad);
  bad = good, bad.depth = 1;
  refused(bad);
  bad = good, bad.lastMipmapLevel = 1;
  refused(bad);
  bad = good, bad.lastLayer = 1;
  refused(bad);
  bad = good, bad.format = CU_RES_VIEW_FORMAT_UINT_2X32;
  refused(bad);
  CUdeviceptr memory = 0;
  CU_OK(cuMemAlloc(&memory, 64));
  CUDA_RESOURCE_DESC linear{};
  linear.resType = CU_RESOURCE_TYPE_LINEAR;
  linear.res.linear.devPtr = memory;
  linear.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
  linear.res.linear.numChannels = 1, linear.res.linear.sizeInBytes = 64;
  bad = {};
  bad.width = 16;
  EXPECT_CUDA(cuTexObjectCreate(&object, &linear, &how, &bad), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(memory));
}

CASE(colours_in_srgb_become_linear) {
  std::vector<uint8_t> data(256 * 4);
  for (size_t i = 0; i < 256; ++i)
    for (size_t c = 0; c < 4; ++c) data[i * 4 + c] = static_cast<uint8_t>(c == 1 ? 255 - i : i);
  const ArrayOf array(256, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, data.data());
  const Texture colours(array.resource(), sampling(CU_TRSF_SRGB)), plain(array.resource(), sampling(0));
  std::vector<Word4> words;
  for (size_t i = 0; i < 256; ++i) words.push_back(coordinates(static_cast<float>(i) + 0.5f));
  const std::string read = fetch("tex.1d.v4.f32.f32", "{%f0}");
  const auto got = results(read, colours, words), as_they_are = results(read, plain, words);
  for (size_t i = 0; i < 256; ++i)
    for (size_t c = 0; c < 4; ++c) {
      const double value = data[i * 4 + c] / 255.0;
      const double linear = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
      if (!(std::fabs(as_float(got[i][c]) - (c == 3 ? value : linear)) <= 1e-3))
        EXPECT_EQUAL_AT(static_cast<int>(i), as_float(got[i][c]), c == 3 ? value : linear);
      if (!(std::fabs(as_float(as_they_are[i][c]) - value) <= 1e-6))
        EXPECT_EQUAL_AT(static_cast<int>(i), as_float(as_they_are[i][c]), value);
    }
}

/// A cube whose face f holds f + 1 everywhere.
struct NumberedCube {
  std::vector<float> data;
  ArrayOf array;
  NumberedCube() : data(numbers()), array(4, 4, 6, CU_AD_FORMAT_FLOAT, 1, 4, data.data(), CUDA_ARRAY3D_CUBEMAP) {}
  static std::vector<float> numbers() {
    std::vector<float> values(6 * 16);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i / 16 + 1);
    return values;
  }
};

CASE(filters_cross_the_edges_of_seamless_cubes) {
  const NumberedCube cube;
  const CUDA_TEXTURE_DESC how =
      sampling(kNormalized | CU_TRSF_SEAMLESS_CUBEMAP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR);
  CUDA_TEXTURE_DESC apart = how;
  apart.flags = kNormalized;
  const Texture seamless(cube.array.resource(), how), seams(cube.array.resource(), apart);
  const std::string read = fetch("tex.cube.v4.f32.f32", "{%f0, %f1, %f2, %f2}");
  // On each face, close to the edge that it has in common with another.
  std::vector<Word4> words;
  std::vector<float> crossed, kept;
  for (int major = 0; major < 6; ++major)
    for (int minor = 0; minor < 6; ++minor) {
      if (major / 2 == minor / 2) continue;
      const auto own = static_cast<float>(major + 1), other = static_cast<float>(minor + 1);
      // 0.875 is a quarter of a texel from the edge: a quarter of the neighbour. 0.75 is the last texel's centre.
      for (const float far : {0.875f, 0.75f}) {
        float d[3] = {0.03f, 0.03f, 0.03f};
        d[major / 2] = major % 2 ? -1.0f : 1.0f;
        d[minor / 2] = minor % 2 ? -far : far;
        words.push_back(coordinates(d[0], d[1], d[2]));
        crossed.push_back(far == 0.75f ? own : own * 0.75f + other * 0.25f);
        kept.push_back(own);
      }
    }
  const auto across = results(read, seamless, words), apart_from = results(read, seams, words);
  for (size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQUAL_AT(i, as_float(across[i][0]), crossed[i]);
    EXPECT_EQUAL_AT(i, as_float(apart_from[i][0]), kept[i]);
  }
  const ArrayOf plane(4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 4, nullptr);
  const CUDA_RESOURCE_DESC resource = plane.resource();
  CUtexObject object = 0;
  EXPECT_CUDA(cuTexObjectCreate(&object, &resource, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(neighbours_across_an_edge_are_the_nearest_texels) {
  // Texels hold their place in space, as one of x, y and z: what crosses an edge is continuous along it.
  std::vector<float> data(6 * 16);
  for (int axis = 0; axis < 3; ++axis) {
    for (int face = 0; face < 6; ++face)
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) {
          const float s = static_cast<float>(2 * i - 3) / 4, t = static_cast<float>(2 * j - 3) / 4;
          const float place[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
          data[static_cast<size_t>(face * 16 + j * 4 + i)] = place[face][axis];
        }
    const ArrayOf array(4, 4, 6, CU_AD_FORMAT_FLOAT, 1, 4, data.data(), CUDA_ARRAY3D_CUBEMAP);
    const Texture texture(array.resource(), sampling(kNormalized | CU_TRSF_SEAMLESS_CUBEMAP, CU_TR_ADDRESS_MODE_CLAMP,
                                                     CU_TR_FILTER_MODE_LINEAR));
    std::vector<Word4> words;
    std::vector<float> expected;
    for (int major = 0; major < 6; ++major)
      for (int minor = 0; minor < 6; ++minor) {
        if (major / 2 == minor / 2 || axis == major / 2 || axis == minor / 2) continue;
        for (const float along : {-0.75f, -0.25f, 0.25f, 0.75f}) {
          float d[3];
          d[axis] = along;
          d[major / 2] = major % 2 ? -1.0f : 1.0f;
          d[minor / 2] = minor % 2 ? -0.9375f : 0.9375f;
          words.push_back(coordinates(d[0], d[1], d[2]));
          expected.push_back(along);
        }
      }
    const auto got = results(fetch("tex.cube.v4.f32.f32", "{%f0, %f1, %f2, %f2}"), texture, words);
    for (size_t i = 0; i < words.size(); ++i) EXPECT_EQUAL_AT(i, as_float(got[i][0]), expected[i]);
  }
}

CASE(extents_are_within_the_attributes) {
  use_context();
  const auto attribute = [](CUdevice_attribute which) {
    int value = 0;
    CU_OK(cuDeviceGetAttribute(&value, which, the_device()));
    return static_cast<size_t>(value);
  };
  const size_t line = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
  const size_t plane = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT);
  const size_t surface = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH);
  const size_t layers = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS);
  const auto made = [](const CUDA_ARRAY3D_DESCRIPTOR& shape) {
    CUarray array = nullptr;
    const CUresult result = cuArray3DCreate(&array, &shape);
    if (result == CUDA_SUCCESS) CU_OK(cuArrayDestroy(array));
    return result;
  };
  const CUarray_format byte = CU_AD_FORMAT_UNSIGNED_INT8;
  CU_OK(made({line, 0, 0, byte, 1, 0}));
  EXPECT_CUDA(made({line + 1, 0, 0, byte, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  CU_OK(made({1, plane, 0, byte, 1, 0}));
  EXPECT_CUDA(made({1, plane + 1, 0, byte, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  CU_OK(made({surface, 0, 0, byte, 1, CUDA_ARRAY3D_SURFACE_LDST}));
  EXPECT_CUDA(made({surface + 1, 0, 0, byte, 1, CUDA_ARRAY3D_SURFACE_LDST}), CUDA_ERROR_INVALID_VALUE);
  CU_OK(made({4, 0, layers, byte, 1, CUDA_ARRAY3D_LAYERED}));
  EXPECT_CUDA(made({4, 0, layers + 1, byte, 1, CUDA_ARRAY3D_LAYERED}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(made({4, 0, 0, byte, 1, CUDA_ARRAY3D_LAYERED}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(made({4, 0, 4, byte, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(made({4, 4, 12, byte, 1, CUDA_ARRAY3D_CUBEMAP}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(made({4, 4, 4, byte, 1, CUDA_ARRAY3D_TEXTURE_GATHER}), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

CHECK_MAIN()
