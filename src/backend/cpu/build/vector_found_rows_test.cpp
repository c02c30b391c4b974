#include "backend/cpu/build/vector_found_rows.h"

#include <gmock/gmock.h>

#include <iterator>
#include <numeric>

#include "backend/cpu/build/differential_memory.h"
#include "backend/cpu/build/kernel_unit.h"
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

/// Thread i of 64 copies the number that it finds at 2 * i - (i & (%j - 1)), if its bit in %wanted is set, to the same
/// place.
std::string copy_of_runs(const std::string& type) {
  std::string text = R"(
  declare i32 @cupola.tid.x()
  define ptx_kernel void @k(ptr %in, ptr %out, i32 %j, i64 %wanted) {
    %t = call i32 @cupola.tid.x()
    %twice = shl i32 %t, 1
    %mask = add i32 %j, -1
    %low = and i32 %t, %mask
    %i = sub i32 %twice, %low
    %far = sext i32 %i to i64
    %a = getelementptr TYPE, ptr %in, i64 %far
    %b = getelementptr TYPE, ptr %out, i64 %far
    %bit = zext i32 %t to i64
    %shifted = lshr i64 %wanted, %bit
    %is_wanted = trunc i64 %shifted to i1
    %all = icmp eq i64 %wanted, -1
    br i1 %all, label %copy, label %some
  copy:
    %v = load TYPE, ptr %a
    store TYPE %v, ptr %b
    br label %over
  some:
    br i1 %is_wanted, label %copy_some, label %over
  copy_some:
    %w = load TYPE, ptr %a
    store TYPE %w, ptr %b
    br label %over
  over:
    ret void
  })";
  for (size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
  return text;
}

/// Memory that ends with the last place that is asked for.
template <typename T>
void copy_runs(const std::string& type) {
  TestProgram program(copy_of_runs(type));
  for (int32_t j = 1; j <= 64; j *= 2)
    for (const uint64_t wanted : {~uint64_t{0}, uint64_t{0x8000'0001'ffff'0003}, uint64_t{0x0123'4567'89ab'cdef}}) {
      const size_t last = std::max<size_t>(63 + (63 & ~(j - 1)), 63);
      const Fenced in((last + 1) * sizeof(T)), out((last + 1) * sizeof(T));
      T *from = reinterpret_cast<T*>(in.bytes().data()), *to = reinterpret_cast<T*>(out.bytes().data());
      std::vector<T> expected(last + 1, T{99});
      std::fill(to, to + last + 1, T{99});
      std::iota(from, from + last + 1, T{1});
      for (int32_t t = 0; t < 64; ++t)
        if (const int32_t i = 2 * t - (t & (j - 1)); wanted >> t & 1) expected[i] = from[i];
      program.call_for_blocks("k", {1}, {64}, 1, from, to, j, wanted);
      EXPECT_EQ(std::vector<T>(to, to + last + 1), expected) << type << ", " << j << " apart, for " << wanted;
    }
}

TEST(VectorFoundRows, AreRunsOfWhichNothingElseIsTouched) {
  copy_runs<uint8_t>("i8");
  copy_runs<uint16_t>("i16");
  copy_runs<uint32_t>("i32");
  copy_runs<uint64_t>("i64");
  copy_runs<double>("double");
}

TEST(VectorFoundRows, AreRunsOfHalvesOfAButterfly) {
  const std::string code = host_code(kStep);
  EXPECT_THAT(code, HasSubstr("<i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16,"));
  EXPECT_THAT(code, HasSubstr("<i32 0, i32 1, i32 4, i32 5, i32 8, i32 9, i32 12, i32 13, i32 16,"));
}

/// Code that is to be there soon looks for rows alone, and says that there is more to find.
TEST(VectorFoundRows, AreRunsInHotCodeOnly) {
  llvm::LLVMContext context;
  const BuildOptions options{.target = "cpu:x86_64:x86-64-v4", .later = true};
  const auto module = build(parse(context, kStep), options);
  ASSERT_TRUE(module) << module.error().message;
  for (const bool hot : {false, true}) {
    const std::string path = ::testing::TempDir() + "runs-" + std::to_string(getpid());
    auto unit = read_unit(context, module->kernels[0].unit);
    ASSERT_TRUE(unit) << unit.error().message;
    const image::BlocksOfCode blocks = {image::BlockClass::Rows, Dim3{32, 4}, hot};
    const auto made = build_unit(std::move(*unit), blocks, {.target = options.target, .keep = path});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->kernels[0].improvable, !hot);
    const std::string code = take_kept_code(path);
    EXPECT_THAT(code, HasSubstr("load <32 x i32>, ptr"));
    constexpr const char* kRuns = "<i32 0, i32 1, i32 4, i32 5, i32 8, i32 9, i32 12, i32 13, i32 16,";
    EXPECT_EQ(code.find(kRuns) != std::string::npos, hot);
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
