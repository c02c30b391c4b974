#include "image/metal_image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "image/content_hash.h"
#include "image/kernel_image.h"
#include "image/sample_image.h"

// The oracle of the round trips is kernel_image_test.cpp's: equal bytes exactly for equal values.

namespace cupola::image {
namespace {

std::vector<std::byte> with_hash(std::vector<std::byte> bytes) {
  const size_t body = bytes.size() - 16;
  const Hash128 hash = content_hash(std::span(bytes).first(body));
  std::memcpy(bytes.data() + body, &hash.low, 8);
  std::memcpy(bytes.data() + body + 8, &hash.high, 8);
  return bytes;
}

TEST(MetalImage, ComesBackAsItWas) {
  const MetalImage image = sample_metal_image();
  const std::vector<std::byte> bytes = serialize(image);
  const Result<MetalImage> back = deserialize_metal(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->target, image.target);
  ASSERT_EQ(back->kernels.size(), 2u);
  EXPECT_EQ(back->kernels[1].refusal, image.kernels[1].refusal);
  EXPECT_EQ(back->kernels[0].info.name, "_Z3addPfi");
  EXPECT_EQ(back->kernels[0].info.parameters[1].offset, 8u);
  EXPECT_EQ(back->kernels[0].entry, "kernel__Z3addPfi");
  EXPECT_EQ(back->symbols[0].name, "table");
  EXPECT_EQ(back->data, image.data);
  EXPECT_EQ(back->relocations[0].addend, 24u);
  EXPECT_EQ(back->msl_version, 31u);
  EXPECT_EQ(back->source, image.source);
  EXPECT_EQ(serialize(*back), bytes);
  EXPECT_EQ(target_of(bytes), "metal:msl30");
}

TEST(MetalImage, EveryTruncationIsRefused) {
  const std::vector<std::byte> bytes = serialize(sample_metal_image());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Result<MetalImage> back = deserialize_metal(std::span(bytes).first(size));
    ASSERT_FALSE(back) << size;
    EXPECT_EQ(back.error().code, ErrorCode::InvalidImage);
    if (size >= 28) EXPECT_FALSE(deserialize_metal(with_hash({bytes.begin(), bytes.begin() + size}))) << size;
  }
}

TEST(MetalImage, EveryBitFlipIsRefusedOrWithARightHashMeansWhatItSays) {
  std::vector<std::byte> bytes = serialize(sample_metal_image());
  size_t refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    EXPECT_FALSE(deserialize_metal(bytes)) << bit;
    const std::vector<std::byte> changed = with_hash(bytes);
    if (bit / 8 < bytes.size() - 16) {
      if (const Result<MetalImage> back = deserialize_metal(changed))
        EXPECT_EQ(serialize(*back), changed) << bit;
      else
        ++refused;
    }
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
  EXPECT_GT(refused, 500u);
}

TEST(MetalImage, WhatPointsOutsideOrIsNoNameIsRefused) {
  struct Case {
    const char* words;
    std::function<void(MetalImage&)> spoil;
  };
  const Case cases[] = {
      {"has a parameter", [](MetalImage& i) { i.kernels[0].info.parameters[1].offset = 13; }},
      {"symbol 'table'", [](MetalImage& i) { i.symbols[0].size = 33; }},
      {"relocation at", [](MetalImage& i) { i.relocations[0].addend = 33; }},
      {"relocation at", [](MetalImage& i) { i.relocations[0].kind = DataRelocation::Kind::CodeAddress; }},
      {"data alignment", [](MetalImage& i) { i.data_alignment = 3; }},
      {"no name", [](MetalImage& i) { i.kernels[0].entry = ""; }},
      {"no name", [](MetalImage& i) { i.kernels[0].entry = "1a"; }},
      {"no name", [](MetalImage& i) { i.kernels[0].entry = "a b"; }},
      {"no name", [](MetalImage& i) { i.kernels[0].refusal = "both"; }},
      {"not for a metal device", [](MetalImage& i) { i.target = "cpu:x86-64-v3:1"; }},
  };
  for (const Case& each : cases) {
    MetalImage image = sample_metal_image();
    each.spoil(image);
    const Result<MetalImage> back = deserialize_metal(serialize(image));
    ASSERT_FALSE(back) << each.words;
    EXPECT_EQ(back.error().code, ErrorCode::InvalidImage);
    EXPECT_NE(back.error().message.find(each.words), std::string::npos) << back.error().message;
  }
}

TEST(MetalImage, ImagesOfTheDevicesAreToldApart) {
  EXPECT_FALSE(deserialize_metal(serialize(sample_image())));
  EXPECT_FALSE(deserialize(serialize(sample_metal_image())));
}

}  // namespace
}  // namespace cupola::image
