#include "image/kernel_image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "image/content_hash.h"
#include "image/library_calls.h"
#include "image/sample_image.h"

// The oracle of the round trips: serialize gives equal bytes exactly for equal values (image/wire.h), so comparing
// bytes compares images.

namespace cupola::image {
namespace {

/// `bytes` with its last 16 replaced by the right hash, as somebody who can compute it would.
std::vector<std::byte> with_hash(std::vector<std::byte> bytes) {
  const size_t body = bytes.size() - 16;
  const Hash128 hash = content_hash(std::span(bytes).first(body));
  std::memcpy(bytes.data() + body, &hash.low, 8);
  std::memcpy(bytes.data() + body + 8, &hash.high, 8);
  return bytes;
}

std::string refusal(const KernelImage& image) {
  Result<KernelImage> back = deserialize(serialize(image));
  if (back) return "accepted";
  EXPECT_EQ(back.error().code, ErrorCode::InvalidImage);
  return back.error().message;
}

TEST(KernelImage, ComesBackAsItWas) {
  const KernelImage image = sample_image();
  const std::vector<std::byte> bytes = serialize(image);
  Result<KernelImage> back = deserialize(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->target, image.target);
  ASSERT_EQ(back->kernels.size(), 2u);
  EXPECT_EQ(back->kernels[0].info.name, "_Z3addPfi");
  EXPECT_EQ(back->kernels[0].info.parameters[1].offset, 8u);
  EXPECT_EQ(back->kernels[0].info.required_block, (Dim3{16, 16, 1}));
  EXPECT_EQ(back->kernels[0].rung, Rung::ThreadLoop);
  EXPECT_EQ(back->kernels[0].wide_entries[BlockClass::Rows].place, 4u);
  EXPECT_TRUE(back->kernels[0].wide_entries[BlockClass::Rows].whole_block);
  EXPECT_EQ(back->kernels[0].wide_entries[BlockClass::Rows8].place, 12u);
  EXPECT_FALSE(back->kernels[0].wide_entries[BlockClass::Rows8].whole_block);
  EXPECT_EQ(back->kernels[0].wide_entries[BlockClass::Any].place, kNoEntry);
  EXPECT_TRUE(back->kernels[0].polls);
  EXPECT_EQ(back->kernels[0].most_instructions, 12u);
  EXPECT_TRUE(back->kernels[1].flush_denormals);
  EXPECT_EQ(back->kernels[1].unit, image.kernels[1].unit);
  EXPECT_EQ(back->segment, image.segment);
  EXPECT_EQ(serialize(*back), bytes);
}

TEST(KernelImage, SaysItsTargetFromTheFrontAlone) {
  const std::vector<std::byte> bytes = serialize(sample_image());
  EXPECT_EQ(target_of(bytes), "cpu:x86-64-v3:1");
  const size_t front = 8 + 4 + 8 + 15;  // magic, version, length and text
  EXPECT_EQ(target_of(std::span(bytes).first(front)), "cpu:x86-64-v3:1");
  for (size_t size = 0; size < front; ++size) EXPECT_EQ(target_of(std::span(bytes).first(size)), std::nullopt);
  for (const size_t at : {0u, 8u}) {  // another magic, another version
    std::vector<std::byte> other = bytes;
    other[at] ^= std::byte{1};
    EXPECT_EQ(target_of(other), std::nullopt);
  }
}

TEST(KernelImage, EmptyImageComesBack) {
  const std::vector<std::byte> bytes = serialize(KernelImage{});
  Result<KernelImage> back = deserialize(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(serialize(*back), bytes);
}

TEST(KernelImage, EveryTruncationIsRefused) {
  const std::vector<std::byte> bytes = serialize(sample_image());
  for (size_t size = 0; size < bytes.size(); ++size) {
    Result<KernelImage> back = deserialize(std::span(bytes).first(size));
    ASSERT_FALSE(back) << size;
    EXPECT_EQ(back.error().code, ErrorCode::InvalidImage);
    if (size < 28) continue;
    Result<KernelImage> rehashed = deserialize(with_hash({bytes.begin(), bytes.begin() + size}));
    ASSERT_FALSE(rehashed) << size;
    EXPECT_EQ(rehashed.error().code, ErrorCode::InvalidImage);
  }
}

TEST(KernelImage, EveryBitFlipIsRefused) {
  std::vector<std::byte> bytes = serialize(sample_image());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const std::byte mask = std::byte(1 << bit % 8);
    bytes[bit / 8] ^= mask;
    Result<KernelImage> back = deserialize(bytes);
    ASSERT_FALSE(back) << bit;
    EXPECT_EQ(back.error().code, ErrorCode::InvalidImage);
    bytes[bit / 8] ^= mask;
  }
}

TEST(KernelImage, BitFlipWithARightHashIsRefusedOrMeansWhatItSays) {
  std::vector<std::byte> bytes = serialize(sample_image());
  size_t refused = 0;
  for (size_t bit = 0; bit < (bytes.size() - 16) * 8; ++bit) {
    const std::byte mask = std::byte(1 << bit % 8);
    bytes[bit / 8] ^= mask;
    const std::vector<std::byte> changed = with_hash(bytes);
    if (Result<KernelImage> back = deserialize(changed)) {
      EXPECT_EQ(serialize(*back), changed) << bit;
    } else {
      EXPECT_EQ(back.error().code, ErrorCode::InvalidImage);
      ++refused;
    }
    bytes[bit / 8] ^= mask;
  }
  EXPECT_GT(refused, 500u);  // lengths, offsets, enumerations
}

TEST(KernelImage, OffsetsOutsideWhatTheyPointIntoAreRefused) {
  struct Case {
    const char* words;
    std::function<void(KernelImage&)> spoil;
  };
  const Case cases[] = {
      {"begins outside", [](KernelImage& i) { i.kernels[0].entry = 4096; }},
      {"begins outside", [](KernelImage& i) { i.kernels[0].wide_entries[BlockClass::Rows].place = 4096; }},
      {"begins outside", [](KernelImage& i) { i.kernels[1].wide_entries[BlockClass::Any] = {kNoEntry - 1, true}; }},
      {"has a parameter", [](KernelImage& i) { i.kernels[0].info.parameters[0].size = 17; }},
      {"has a parameter", [](KernelImage& i) { i.kernels[0].info.parameters[1].offset = 0xfffffffc; }},
      {"symbol 'table'", [](KernelImage& i) { i.symbols[0].size = 33; }},
      {"symbol 'table'", [](KernelImage& i) { i.symbols[0].offset = ~uint64_t{0} - 8; }},
      {"relocation at", [](KernelImage& i) { i.relocations[0].offset = 25; }},
      {"relocation at", [](KernelImage& i) { i.relocations[0].addend = 33; }},
      {"relocation at", [](KernelImage& i) { i.relocations[1].addend = 4096; }},
      {"data alignment", [](KernelImage& i) { i.data_alignment = 0; }},
      {"data alignment", [](KernelImage& i) { i.data_alignment = 48; }},
      {"import slots at", [](KernelImage& i) { i.slots_offset = 4095; }},
      {"import slots at", [](KernelImage& i) { i.slots_offset = 8192; }},
      {"a source line is in file", [](KernelImage& i) { i.lines.rows[1].file = 2; }},
      {"import of", [](KernelImage& i) { i.imports[0].slot = 4088; }},
      {"import of", [](KernelImage& i) { i.imports[0].slot = 4112; }},
      {"import of", [](KernelImage& i) { i.imports[0].slot = ~uint64_t{7}; }},
      {"import of", [](KernelImage& i) { i.imports[0].function = library_call_count(); }},
  };
  for (const Case& each : cases) {
    KernelImage image = sample_image();
    ASSERT_EQ(refusal(image), "accepted");
    each.spoil(image);
    EXPECT_NE(refusal(image).find(each.words), std::string::npos) << refusal(image);
  }
}

TEST(KernelImage, AnotherFormatVersionIsNamed) {
  std::vector<std::byte> bytes = serialize(sample_image());
  bytes[8] = std::byte{99};
  Result<KernelImage> back = deserialize(with_hash(bytes));
  ASSERT_FALSE(back);
  EXPECT_NE(back.error().message.find("version 99"), std::string::npos);
}

TEST(LineTable, ARowHoldsUpToTheNext) {
  const LineTable lines = sample_image().lines;
  EXPECT_EQ(lines.place(0), "a.cu:7");
  EXPECT_EQ(lines.place(3), "a.cu:7");
  EXPECT_EQ(lines.place(5), "b.h:3");
  EXPECT_EQ(lines.place(7), "");
  EXPECT_EQ(lines.place(4000), "a.cu:9");
  EXPECT_EQ(LineTable().place(0), "");
}

}  // namespace
}  // namespace cupola::image
