#include "image/fatbin.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

// The oracle of the layout is docs/fatbin.md: HandMadeFatbinIsRead builds its bytes from that page, not with
// write_fatbin.

namespace cupola::image {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

template <typename T>
void put(std::vector<std::byte>& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// One compressed PTX entry with a header of 72 bytes, in a fatbin of 16 + 72 + 16 bytes.
std::vector<std::byte> hand_made() {
  std::vector<std::byte> bytes(104);
  put<uint32_t>(bytes, 0, 0xBA55ED50);
  put<uint16_t>(bytes, 4, 1);
  put<uint16_t>(bytes, 6, 16);
  put<uint64_t>(bytes, 8, 88);
  put<uint16_t>(bytes, 16, 1);
  put<uint32_t>(bytes, 16 + 4, 72);
  put<uint64_t>(bytes, 16 + 8, 16);
  put<uint32_t>(bytes, 16 + 16, 11);
  put<uint32_t>(bytes, 16 + 28, 75);
  put<uint64_t>(bytes, 16 + 40, 0x8011);
  put<uint64_t>(bytes, 16 + 56, 4000);
  std::memcpy(bytes.data() + 88, "zstd bytes.", 11);
  return bytes;
}

TEST(Fatbin, HandMadeFatbinIsRead) {
  const std::vector<std::byte> bytes = hand_made();
  for (size_t limit : {bytes.size(), SIZE_MAX}) {
    Result<std::vector<FatbinEntry>> entries = read_fatbin(bytes.data(), limit);
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 1u);
    const FatbinEntry& entry = entries->front();
    EXPECT_EQ(entry.kind, FatbinKind::Ptx);
    EXPECT_EQ(entry.sm, 75u);
    EXPECT_EQ(entry.flags, 0x8011u);
    EXPECT_EQ(entry.uncompressed_size, 4000u);
    EXPECT_EQ(text_of(entry.payload), "zstd bytes.");
  }
}

TEST(Fatbin, WhatIsWrittenIsRead) {
  const FatbinEntry written[] = {{FatbinKind::Kir, 89, 0, bytes_of("BC bitcode"), 0},
                                 {FatbinKind::Ptx, 89, 0x8000, bytes_of(".version 8.0"), 0},
                                 {FatbinKind::Kir, 75, 0, bytes_of("eight by"), 0}};
  const std::vector<std::byte> bytes = write_fatbin(written).value();
  Result<std::vector<FatbinEntry>> entries = read_fatbin(bytes.data(), bytes.size());
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const FatbinEntry& entry = (*entries)[i];
    EXPECT_EQ(entry.kind, written[i].kind);
    EXPECT_EQ(entry.sm, written[i].sm);
    EXPECT_EQ(entry.flags, 0x11u);  // 64-bit, Linux, and never a compression that did not happen
    EXPECT_EQ(entry.uncompressed_size, 0u);
    EXPECT_EQ(text_of(entry.payload), text_of(written[i].payload));
    EXPECT_EQ((entry.payload.data() - bytes.data()) % 8, 0);
  }
}

TEST(Fatbin, APayloadWhoseSizeHasNoRoomIsRefused) {
  const std::byte one{};
  const FatbinEntry entry{FatbinKind::Kir, 89, 0, std::span(&one, size_t{1} << 32), 0};  // of which nothing is read
  const auto written = write_fatbin({&entry, 1});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::InvalidImage);
}

TEST(Fatbin, EmptyFatbinHasNoEntries) {
  const std::vector<std::byte> bytes = write_fatbin({}).value();
  Result<std::vector<FatbinEntry>> entries = read_fatbin(bytes.data(), SIZE_MAX);
  ASSERT_TRUE(entries);
  EXPECT_TRUE(entries->empty());
}

TEST(Fatbin, EveryTruncationIsRefused) {
  const std::vector<std::byte> whole = hand_made();
  for (size_t size = 0; size < whole.size(); ++size) {
    // A copy of exactly this size, so that AddressSanitizer sees a read beyond it.
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + size);
    Result<std::vector<FatbinEntry>> entries = read_fatbin(cut.data(), cut.size());
    ASSERT_FALSE(entries) << size;
    EXPECT_EQ(entries.error().code, ErrorCode::InvalidImage);
  }
}

TEST(Fatbin, BitFlipIsRefusedOrStaysInside) {
  std::vector<std::byte> bytes = hand_made();
  size_t refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    if (Result<std::vector<FatbinEntry>> entries = read_fatbin(bytes.data(), bytes.size())) {
      for (const FatbinEntry& entry : *entries) {
        EXPECT_GE(entry.payload.data(), bytes.data());
        EXPECT_LE(entry.payload.data() + entry.payload.size(), bytes.data() + bytes.size());
      }
    } else {
      EXPECT_EQ(entries.error().code, ErrorCode::InvalidImage);
      ++refused;
    }
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
  EXPECT_GT(refused, 200u);  // magic, version, sizes
}

}  // namespace
}  // namespace cupola::image
