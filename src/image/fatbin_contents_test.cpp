#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <string>

#include "image/fatbin.h"

// Oracle: the LZ4 and zstd libraries' own compressors.

namespace cupola::image {
namespace {

std::string sample_text() {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "add.s32 %r" + std::to_string(i) + ", %r1, %r2;\n";
  return text;
}

std::vector<std::byte> lz4(const std::string& text) {
  std::vector<std::byte> packed(static_cast<size_t>(LZ4_compressBound(static_cast<int>(text.size()))));
  const int size = LZ4_compress_default(text.data(), reinterpret_cast<char*>(packed.data()),
                                        static_cast<int>(text.size()), static_cast<int>(packed.size()));
  packed.resize(static_cast<size_t>(size));
  return packed;
}

std::vector<std::byte> zstd(const std::string& text) {
  std::vector<std::byte> packed(ZSTD_compressBound(text.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

std::string unpacked(const FatbinEntry& entry) {
  const auto bytes = contents(entry);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())
               : "error: " + bytes.error().message;
}

TEST(FatbinContents, UnpacksLz4AndZstd) {
  const std::string text = sample_text();
  const auto by_lz4 = lz4(text), by_zstd = zstd(text);
  EXPECT_EQ(unpacked({FatbinKind::Ptx, 80, kFlagLz4, by_lz4, text.size()}), text);
  EXPECT_EQ(unpacked({FatbinKind::Ptx, 80, kFlagZstd, by_zstd, text.size()}), text);
  EXPECT_EQ(unpacked({FatbinKind::Ptx, 80, 0, std::as_bytes(std::span(text)), 0}), text);
}

TEST(FatbinContents, DamagedPayloadsAreRefused) {
  const std::string text = sample_text();
  for (const uint64_t flag : {kFlagLz4, kFlagZstd}) {
    const std::vector<std::byte> good = flag == kFlagLz4 ? lz4(text) : zstd(text);
    const auto refused = [&](std::span<const std::byte> bytes, uint64_t size) {
      return unpacked({FatbinKind::Ptx, 80, flag, bytes, size}).starts_with("error: fatbin: ");
    };
    EXPECT_TRUE(refused(std::span(good).first(good.size() / 2), text.size()));
    EXPECT_TRUE(refused(good, text.size() + 1));
    EXPECT_TRUE(refused(good, text.size() - 1));
    EXPECT_TRUE(refused(good, uint64_t{1} << 60));
    EXPECT_TRUE(refused({}, text.size()));
  }
}

}  // namespace
}  // namespace cupola::image
