#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "image/fatbin.h"

// Oracle: the LZ4 and zstd libraries' own compressors. This program counts its allocations, to see what a forged size
// costs; not under ThreadSanitizer, which brings operators of its own.

namespace {

std::atomic<size_t> greatest_allocation = 0;  // bytes

#if !__has_feature(thread_sanitizer)
void* counted(size_t size) {
  size_t known = greatest_allocation.load(std::memory_order_relaxed);
  while (known < size && !greatest_allocation.compare_exchange_weak(known, size, std::memory_order_relaxed)) {
  }
  void* memory = std::malloc(std::max(size, size_t{1}));
  if (!memory) std::abort();
  return memory;
}
#endif

}  // namespace

#if !__has_feature(thread_sanitizer)
void* operator new(size_t size) {
  return counted(size);
}
void* operator new[](size_t size) {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}
#endif

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
    EXPECT_TRUE(refused(good, 0));  // and not handed out as it is
  }
}

/// A frame that says that it holds `claimed` bytes and asks for a window of 2^`window` bytes. It lacks its end, unless
/// it says nothing.
std::vector<std::byte> forged_zstd(const std::string& text, uint64_t claimed, int window) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  EXPECT_FALSE(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window)));
  EXPECT_FALSE(ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(context, claimed)));
  std::vector<std::byte> packed(ZSTD_compressBound(text.size()) + 64);
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0u);
  if (claimed == ZSTD_CONTENTSIZE_UNKNOWN) EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0u);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

TEST(FatbinContents, LargePayloadsUnpackInSteps) {
  std::string text;
  while (text.size() < 3'000'000) text += sample_text();  // repeats: far more than 64 KiB for each step
  EXPECT_EQ(unpacked({FatbinKind::Ptx, 80, kFlagLz4, lz4(text), text.size()}), text);
  EXPECT_EQ(unpacked({FatbinKind::Ptx, 80, kFlagZstd, zstd(text), text.size()}), text);
  const std::string zeros(20'000'000, '\0');
  EXPECT_TRUE(unpacked({FatbinKind::Ptx, 80, kFlagLz4, lz4(zeros), zeros.size()}) == zeros);
  EXPECT_TRUE(unpacked({FatbinKind::Ptx, 80, kFlagZstd, zstd(zeros), zeros.size()}) == zeros);
}

TEST(FatbinContents, FramesFollowEachOther) {
  const std::string text = sample_text();
  std::vector<std::byte> twice = zstd(text);
  twice.insert(twice.end(), twice.begin(), twice.begin() + static_cast<ptrdiff_t>(twice.size()));
  EXPECT_EQ(unpacked({FatbinKind::Ptx, 80, kFlagZstd, twice, 2 * text.size()}), text + text);
  EXPECT_TRUE(unpacked({FatbinKind::Ptx, 80, kFlagZstd, twice, text.size()}).starts_with("error: fatbin: "));
}

TEST(FatbinContents, ForgedSizesTakeNoMemory) {
  const std::string text = sample_text();
  constexpr uint64_t kClaimed = uint64_t{3} << 30, kEnough = uint64_t{1} << 20;  // bytes
  const auto cost = [](const FatbinEntry& entry) {
    greatest_allocation = 0;
    EXPECT_TRUE(unpacked(entry).starts_with("error: fatbin: "));
    return greatest_allocation.load();
  };
  // The entry's size alone is forged; a block that could unpack to as much, if it were what it says.
  EXPECT_LT(cost({FatbinKind::Ptx, 80, kFlagZstd, zstd(text), kClaimed}), kEnough);
  const std::vector<std::byte> rubbish(40'000'000, std::byte{0xff});
  EXPECT_LT(cost({FatbinKind::Ptx, 80, kFlagLz4, rubbish, uint64_t{2'000'000'000}}), 4 * rubbish.size() + kEnough);
  EXPECT_LT(cost({FatbinKind::Ptx, 80, kFlagLz4, lz4(text), lz4(text).size() * 255}), kEnough);
  EXPECT_LT(cost({FatbinKind::Ptx, 80, kFlagZstd, forged_zstd(text, kClaimed, 20), kClaimed}),
            kEnough);  // the frame's too
}

// The library allocates a frame's window before it unpacks a byte.
TEST(FatbinContents, WindowsAreInProportion) {
  const std::string text = sample_text();
  const std::vector<std::byte> modest = forged_zstd(text, ZSTD_CONTENTSIZE_UNKNOWN, 23);
  const std::vector<std::byte> greedy = forged_zstd(text, ZSTD_CONTENTSIZE_UNKNOWN, 27);
  EXPECT_EQ(unpacked({FatbinKind::Ptx, 80, kFlagZstd, modest, text.size()}), text);
  EXPECT_TRUE(unpacked({FatbinKind::Ptx, 80, kFlagZstd, greedy, text.size()}).starts_with("error: fatbin: "));
}

}  // namespace
}  // namespace cupola::image
