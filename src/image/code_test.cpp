#include "image/code.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "image/bitcode.h"
#include "image/fatbin.h"

namespace cupola::image {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

/// A top-level block with a body of `words` zero words. Oracle: "LLVM Bitcode File Format, ENTER_SUBBLOCK Encoding".
void append_block(std::vector<std::byte>& to, uint32_t id, uint32_t words) {
  const uint32_t head = 1u | id << 2 | 3u << 10;  // abbreviation id 1, block id, new abbreviation width 3
  const size_t at = to.size();
  to.resize(at + 8 + words * 4);
  std::memcpy(to.data() + at, &head, 4);
  std::memcpy(to.data() + at + 4, &words, 4);
}

std::vector<std::byte> sample_bitcode() {
  std::vector<std::byte> bytes = bytes_of("BC\xC0\xDE");
  append_block(bytes, 13, 5);
  append_block(bytes, 8, 100);
  append_block(bytes, 23, 7);
  return bytes;
}

TEST(Bitcode, EndsAfterItsStringTable) {
  std::vector<std::byte> bytes = sample_bitcode();
  const size_t size = bytes.size();
  bytes.resize(size + 64, std::byte{0xff});
  EXPECT_EQ(bitcode_size(bytes.data()), size);
}

TEST(Bitcode, RefusesUnknownBlocks) {
  std::vector<std::byte> bytes = bytes_of("BC\xC0\xDE");
  append_block(bytes, 77, 1);
  EXPECT_EQ(bitcode_size(bytes.data()).error().code, ErrorCode::InvalidImage);
}

TEST(Code, BareBitcodeNeedsNoLength) {
  const std::vector<std::byte> bytes = sample_bitcode();
  auto code = read_code(bytes.data(), SIZE_MAX);
  ASSERT_TRUE(code);
  ASSERT_EQ(code->units.size(), 1u);
  EXPECT_EQ(code->units[0].kind, CodeKind::Kir);
  EXPECT_EQ(code->units[0].bytes, bytes);
}

TEST(Code, AMetallibSaysHowLongItIs) {
  std::vector<std::byte> bytes = bytes_of("MTLB");
  bytes.resize(100);
  bytes[16] = std::byte{96};
  for (const size_t limit : {size_t{100}, size_t{96}, SIZE_MAX}) {
    const auto code = read_code(bytes.data(), limit);
    ASSERT_TRUE(code);
    EXPECT_TRUE(code->units.empty());
    ASSERT_EQ(code->images.size(), 1u);
    EXPECT_EQ(code->images[0].size(), 96u);
    EXPECT_TRUE(code->compile_at_load);
  }
  for (const size_t limit : {95, 87, 5}) {
    const auto cut = read_code(bytes.data(), limit);
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code, ErrorCode::InvalidImage);
    EXPECT_TRUE(cut.error().message.starts_with("this .metallib is cut: ")) << cut.error().message;
  }
}

TEST(Code, FatBinaryKeepsImagesAndPrefersKir) {
  const auto ptx = bytes_of("ptx text"), kir = bytes_of("BC kir!!"), ready = bytes_of("cupimage");
  const FatbinEntry entries[] = {
      {FatbinKind::Ptx, 89, 0, ptx, 0}, {FatbinKind::Kir, 89, 0, kir, 0}, {FatbinKind::KernelImage, 89, 0, ready, 0}};
  const auto all = image::write_fatbin(entries).value();
  const auto code = read_code(all.data(), SIZE_MAX);
  ASSERT_TRUE(code);
  ASSERT_EQ(code->images.size(), 1u);
  EXPECT_EQ(code->images[0], ready);
  EXPECT_EQ(code->units, (std::vector<CodeUnit>{{CodeKind::Kir, kir}}));
}

TEST(Code, FatBinaryTakesTheNewestPtxThatTheDeviceKnows) {
  const auto old = bytes_of("sm_70..."), fit = bytes_of("sm_80..."), late = bytes_of("sm_100..");
  const FatbinEntry entries[] = {
      {FatbinKind::Ptx, 70, 0, old, 0}, {FatbinKind::Ptx, 80, 0, fit, 0}, {FatbinKind::Ptx, 100, 0, late, 0}};
  const auto all = image::write_fatbin(entries).value();
  EXPECT_EQ(read_code(all.data(), SIZE_MAX)->units[0].bytes, fit);
  const auto only_late = image::write_fatbin(std::span(entries).last(1)).value();
  EXPECT_EQ(read_code(only_late.data(), SIZE_MAX)->units[0].bytes, late);
}

TEST(Code, SeparateCompilationIsAListOfFatBinaries) {
  const auto first = bytes_of("first..."), second = bytes_of("second..");
  const FatbinEntry one[] = {{FatbinKind::Ptx, 80, 0, first, 0}}, two[] = {{FatbinKind::Ptx, 80, 0, second, 0}};
  const auto a = image::write_fatbin(one).value(), b = image::write_fatbin(two).value();
  const std::byte* const list[] = {a.data(), b.data(), nullptr};
  struct {
    uint32_t magic = 0x466243B1, version = 2;
    const void* data;
    const void* list;
  } wrapper{.data = a.data(), .list = list};
  const auto code = read_code(&wrapper, SIZE_MAX);
  ASSERT_TRUE(code) << code.error().message;
  ASSERT_EQ(code->units.size(), 2u);
  EXPECT_EQ(code->units[1].bytes, second);
}

TEST(Code, SaysHowToRebuild) {
  const auto payload = bytes_of("payload!");
  const FatbinEntry elf[] = {{FatbinKind::Elf, 80, 0, payload, 0}};
  const auto machine_code = image::write_fatbin(elf).value();
  const auto refused = read_code(machine_code.data(), SIZE_MAX);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::NoBinaryForGpu);
  EXPECT_NE(refused.error().message.find("cupolac"), std::string::npos);
  EXPECT_EQ(read_code("", 0).error().code, ErrorCode::InvalidImage);
  EXPECT_EQ(read_code("no code", SIZE_MAX).error().code, ErrorCode::InvalidImage);
}

TEST(Code, TextIsPtxFromItsVersionOn) {
  const auto code = read_code("// a comment\n\t.version 8.0\n", SIZE_MAX);
  ASSERT_TRUE(code);
  EXPECT_EQ(code->units[0].kind, CodeKind::Ptx);
  EXPECT_EQ(code->units[0].bytes.size(), 27u);
  EXPECT_TRUE(code->compile_at_load);
}

}  // namespace
}  // namespace cupola::image
