#include "backend/cpu/build/vector_found_rows.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <numeric>

#include "backend/cpu/build/test_program.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A step of a bitonic network over 2 * 32 * blockDim.y numbers: thread i orders two of them that are %j apart.
constexpr const char* kStep = R"(
  declare i32 @cupola.tid.x()
  declare i32 @cupola.tid.y()
  declare i32 @cupola.ntid.x()
  define ptx_kernel void @k(ptr %keys, i32 %j) {
    %x = call i32 @cupola.tid.x()
    %y = call i32 @cupola.tid.y()
    %n = call i32 @cupola.ntid.x()
    %before = mul i32 %y, %n
    %t = add i32 %before, %x
    %twice = shl i32 %t, 1
    %mask = add i32 %j, -1
    %low = and i32 %t, %mask
    %i = sub i32 %twice, %low
    %far = sext i32 %i to i64
    %a = getelementptr i32, ptr %keys, i64 %far
    %k = add i32 %i, %j
    %farther = zext i32 %k to i64
    %b = getelementptr i32, ptr %keys, i64 %farther
    %v = load i32, ptr %a
    %w = load i32, ptr %b
    %swap = icmp ugt i32 %v, %w
    br i1 %swap, label %write, label %over
  write:
    store i32 %w, ptr %a
    store i32 %v, ptr %b
    br label %over
  over:
    ret void
  })";

/// A gather by numbers that threads read.
constexpr const char* kPermutation = R"(
  declare i32 @cupola.tid.x()
  define ptx_kernel void @k(ptr %in, ptr %out) {
    %x = call i32 @cupola.tid.x()
    %far = zext i32 %x to i64
    %from = getelementptr i32, ptr %in, i64 %far
    %i = load i32, ptr %from
    %farther = sext i32 %i to i64
    %a = getelementptr i32, ptr %in, i64 %farther
    %v = load i32, ptr %a
    %to = getelementptr i32, ptr %out, i64 %far
    store i32 %v, ptr %to
    ret void
  })";

TEST(VectorFoundRows, AreLookedForWherePlacesFollowFromTheThreads) {
  EXPECT_THAT(host_code(kStep), HasSubstr("load <32 x i32>, ptr"));
  const std::string permuted = host_code(kPermutation);
  const size_t row = permuted.find("load <32 x i32>, ptr");
  ASSERT_NE(row, std::string::npos);  // the one that is known
  EXPECT_THAT(permuted.substr(row + 1), Not(HasSubstr("load <32 x i32>, ptr")));
}

TEST(VectorFoundRows, OrderTheSameAsThreadAfterThread) {
  for (const Dim3 block : {Dim3{32, 4}, Dim3{16, 8}, Dim3{8, 16}})
    for (int32_t j = 1; j <= 128; j *= 2) {
      TestProgram program(kStep);
      std::vector<uint32_t> keys(256);
      for (uint32_t i = 0; i < 256; ++i) keys[i] = i * 0x9e3779b9u;
      std::vector<uint32_t> expected = keys;
      for (int32_t t = 0; t < 128; ++t) {
        const int32_t i = 2 * t - (t & (j - 1));
        if (expected[i] > expected[i + j]) std::swap(expected[i], expected[i + j]);
      }
      program.call_for_blocks("k", {1}, block, 1, keys.data(), j);
      EXPECT_EQ(keys, expected) << "rows of " << block.x << ", " << j << " apart";
    }
}

/// Numbers that are in order modulo 2^32 are no row where what they are extended to jumps.
TEST(VectorFoundRows, AreNoneWhereTheNumberWraps) {
  TestProgram program(R"(
      declare i32 @cupola.tid.x()
      define ptx_kernel void @k(ptr %middle, ptr %out, i32 %from) {
        %x = call i32 @cupola.tid.x()
        %turned = xor i32 %from, %x
        %i = add i32 %turned, -16
        %far = zext i32 %i to i64
        %a = getelementptr i32, ptr %middle, i64 %far
        %is_before = icmp slt i32 %i, 0
        br i1 %is_before, label %over, label %read
      read:
        %v = load i32, ptr %a
        %far.x = zext i32 %x to i64
        %to = getelementptr i32, ptr %out, i64 %far.x
        store i32 %v, ptr %to
        br label %over
      over:
        ret void
      })");
  std::vector<int32_t> in(64), out(32, -1);
  std::iota(in.begin(), in.end(), 0);
  program.call_for_blocks("k", {1}, {32}, 1, in.data(), out.data(), 0);
  for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane < 16 ? -1 : lane - 16);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
