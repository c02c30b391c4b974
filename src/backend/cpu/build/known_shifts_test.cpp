#include "backend/cpu/build/known_shifts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <regex>

#include "backend/cpu/build/test_program.h"
#include "kir/test_module.h"

// Oracle: what the PTX ISA says of shl and shr: 0 where the distance is 32 or more.

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Row = std::array<uint32_t, 8>;

constexpr const char* kRow = R"(
  define void @f(ptr %p, i32 %distance) {
    %x = load <8 x i32>, ptr %p, align 4
    %one = insertelement <8 x i32> poison, i32 %distance, i64 0
    %row = shufflevector <8 x i32> %one, <8 x i32> poison, <8 x i32> zeroinitializer
    %is_within = icmp ult i32 %distance, 32
    %right = lshr <8 x i32> %x, %row
    %byte = and <8 x i32> %right, splat (i32 255)
    %low = select i1 %is_within, <8 x i32> %byte, <8 x i32> zeroinitializer
    store <8 x i32> %low, ptr %p, align 4
    %left = shl <8 x i32> %x, %row
    %high = select i1 %is_within, <8 x i32> %left, <8 x i32> zeroinitializer
    %behind = getelementptr i8, ptr %p, i64 32
    store <8 x i32> %high, ptr %behind, align 4
    ret void
  })";

/// Shifts the numbers of a row one after the other, by what `distance` makes of %given in each turn.
std::string loop(const char* distance) {
  return formatted(R"(
  define void @f(ptr %p, i32 %given) {{
  entry:
    br label %turn
  turn:
    %i = phi i32 [ 0, %entry ], [ %next, %turn ]
    %place = getelementptr i32, ptr %p, i32 %i
    %x = load i32, ptr %place, align 4
    %distance = {}
    %is_within = icmp ult i32 %distance, 32
    %right = lshr i32 %x, %distance
    %shifted = select i1 %is_within, i32 %right, i32 0
    store i32 %shifted, ptr %place, align 4
    %next = add i32 %i, 1
    %goes_on = icmp ult i32 %next, 8
    br i1 %goes_on, label %turn, label %over
  over:
    ret void
  }})",
                   distance);
}

uint32_t right(uint32_t number, uint32_t distance) {
  return distance < 32 ? number >> distance : 0;
}
uint32_t left(uint32_t number, uint32_t distance) {
  return distance < 32 ? number << distance : 0;
}

constexpr Row kNumbers = {0, 1, 0x80000000, 0xffffffff, 0x12345678, 0xdeadbeef, 255, 256};
constexpr uint32_t kDistances[] = {0, 1, 7, 8, 24, 31, 32, 33, 63, 64, 255, 256, 0x80000000, 0xffffffff};

TEST(KnownShifts, OfRowsLeaveNothingBeyondTheBits) {
  kir::TestModule module(kRow);
  shift_by_known_distances(*module->getFunction("f"));
  EXPECT_THAT(module.text(), Not(HasSubstr("select i1 %is_within, <8 x i32>")));
  EXPECT_THAT(module.text(), HasSubstr("and i32 %distance, 31")) << "by more is poison, of which no bits can be left";
  auto* shift = module.function<void(uint32_t*, uint32_t)>("f");
  for (const uint32_t distance : kDistances) {
    std::array<uint32_t, 16> memory = {};
    std::copy(kNumbers.begin(), kNumbers.end(), memory.begin());
    shift(memory.data(), distance);
    for (size_t i = 0; i < kNumbers.size(); ++i) {
      EXPECT_EQ(memory[i], right(kNumbers[i], distance) & 255) << i << " by " << distance;
      EXPECT_EQ(memory[8 + i], left(kNumbers[i], distance)) << i << " by " << distance;
    }
  }
}

TEST(KnownShifts, AreAskedOnceForALoop) {
  kir::TestModule module(loop("add i32 %given, 0"));
  shift_by_known_distances(*module->getFunction("f"));
  EXPECT_THAT(module.text(), HasSubstr("select i1 %is_within, i32 %right")) << "made anew in each turn";

  kir::TestModule same(std::regex_replace(loop("add i32 0, 0"), std::regex("%distance([,\\n])"), "%given$1"));
  shift_by_known_distances(*same->getFunction("f"));
  EXPECT_THAT(same.text(), Not(HasSubstr("select i1 %is_within, i32 %right")));
  auto* shift = same.function<void(uint32_t*, uint32_t)>("f");
  for (const uint32_t distance : kDistances) {
    Row memory = kNumbers;
    shift(memory.data(), distance);
    for (size_t i = 0; i < kNumbers.size(); ++i) EXPECT_EQ(memory[i], right(kNumbers[i], distance)) << distance;
  }
}

TEST(KnownShifts, AreNoneWhereMoreIsTakenFromThemThanKnownBits) {
  std::string text(kRow);
  const std::string from = "%byte = and <8 x i32> %right, splat (i32 255)";
  text.replace(text.find(from), from.size(), "%byte = and <8 x i32> %right, %x");
  kir::TestModule module(text);
  shift_by_known_distances(*module->getFunction("f"));
  EXPECT_THAT(module.text(), HasSubstr("select i1 %is_within, <8 x i32> %byte"));
  auto* shift = module.function<void(uint32_t*, uint32_t)>("f");
  for (const uint32_t distance : kDistances) {
    std::array<uint32_t, 16> memory = {};
    std::copy(kNumbers.begin(), kNumbers.end(), memory.begin());
    shift(memory.data(), distance);
    for (size_t i = 0; i < kNumbers.size(); ++i)
      EXPECT_EQ(memory[i], right(kNumbers[i], distance) & kNumbers[i]) << i << " by " << distance;
  }
}

TEST(KnownShifts, AreNoneWithAnotherBoundOrByAnotherNumber) {
  for (const auto& [from, to] : {std::pair("icmp ult i32 %distance, 32", "icmp ult i32 %distance, 31"),
                                 {"icmp ult i32 %distance, 32", "icmp ult i32 %other, 32"},
                                 {"icmp ult i32 %distance, 32", "icmp ule i32 %distance, 32"},
                                 {"lshr <8 x i32> %x, %row", "lshr <8 x i32> %x, %x"}}) {
    std::string text = std::regex_replace(std::string(kRow), std::regex("%left = shl <8 x i32> %x, %row"),
                                          "%left = add <8 x i32> %x, %row");
    text = std::regex_replace(text, std::regex("ptr %p, i32 %distance"), "ptr %p, i32 %distance, i32 %other");
    text.replace(text.find(from), std::string(from).size(), to);
    kir::TestModule module(text);
    shift_by_known_distances(*module->getFunction("f"));
    EXPECT_THAT(module.text(), HasSubstr("select i1 %is_within, <8 x i32> %byte")) << to;
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
