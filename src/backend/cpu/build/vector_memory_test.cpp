#include "backend/cpu/build/vector_memory.h"

#include <fstream>
#include <iterator>
#include <numeric>

#include "backend/cpu/build/test_program.h"

// Which accesses the code for rows of 16 threads makes. That they are right is VectorDifferential's to show.

namespace cupola::cpu::build::testing {
namespace {

/// A kernel of blocks of 16 x N threads; `body` has threadIdx.x as %t and threadIdx.y as %y, whose row of 64 numbers
/// begins at %row and has the thread's at %cell.
std::string rows(const std::string& body) {
  return R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.ctaid.x()
    declare void @cupola.barrier(i32, i32)
    define ptx_kernel void @k(ptr %p, ptr %q, i32 %n) {
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %far = zext i32 %y to i64
      %row = getelementptr [64 x i32], ptr %p, i64 %far
      %x = zext i32 %t to i64
      %cell = getelementptr i32, ptr %row, i64 %x
      %column = getelementptr [32 x i32], ptr %q, i64 %x
      )" +
         body +
         R"(
    })";
}

/// The code for rows of 16, as LLVM's text.
std::string code_of(const std::string& text) {
  const std::string path = ::testing::TempDir() + "vector_memory_test";
  llvm::LLVMContext context;
  const auto built = build(parse(context, text), {.target = "cpu:test", .keep = path});
  EXPECT_TRUE(built) << built.error().message;
  std::ifstream file(path + ".host.ll");
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = all.find("@kernel.block.rows16.k(");
  EXPECT_NE(begin, std::string::npos);
  return all.substr(begin, all.find("\n}", begin) - begin);
}

bool has(const std::string& code, const std::string& what) {
  return code.find(what) != std::string::npos;
}

const std::string kStoreBySome = R"(
      %some = icmp slt i32 %t, %n
      br i1 %some, label %write, label %over
    write:
      %v = load i32, ptr %cell
      store i32 %v, ptr )";

TEST(VectorMemory, APlaceThatARowSharesIsWrittenOnce) {
  const std::string end = "\n br label %over\n over:\n ret void";
  EXPECT_TRUE(has(code_of(rows(kStoreBySome + "%column" + end)), "masked.scatter"));
  EXPECT_FALSE(has(code_of(rows(kStoreBySome + "%row" + end)), "masked.scatter"));
  EXPECT_FALSE(has(code_of(rows("store i32 %t, ptr %row\n ret void")), "masked.scatter"));
}

TEST(VectorMemory, TheLastLaneOfARowWritesLast) {
  const std::string text = rows(kStoreBySome + "%row\n br label %over\n over:\n store i32 %y, ptr %column\n ret void");
  for (const int32_t n : {0, 1, 7, 16, 20}) {
    TestProgram program(text);
    std::vector<int32_t> memory(4 * 64), columns(16 * 32);
    std::iota(memory.begin(), memory.end(), 100);
    std::vector<int32_t> expected = memory;
    for (int row = 0; row < 4; ++row)
      if (n > 0) expected[row * 64] = memory[row * 64 + std::min(n, 16) - 1];
    program.call_for_blocks("k", {1}, {16, 4}, 1, memory.data(), columns.data(), n);
    EXPECT_EQ(memory, expected) << n;
    for (int x = 0; x < 16; ++x) EXPECT_EQ(columns[x * 32], 3) << n;
  }
}

TEST(VectorMemory, WhatRowsHaveForThemselvesBecomesAMaskByWords) {
  const std::string code = code_of(rows(R"(
      %some = icmp slt i32 %y, %n
      br i1 %some, label %write, label %over
    write:
      store i32 %t, ptr %cell
      br label %over
    over:
      ret void)"));
  EXPECT_TRUE(has(code, "masked.store"));
  EXPECT_FALSE(has(code, "insertelement <32 x i1>")) << code;  // of which a mask would be put together
}

// Made of the block's number or of a parameter: made again after the barrier.
TEST(VectorMemory, NoVectorIsKeptThatCanBeMadeAgain) {
  for (const std::string from : {"%b", "%n"}) {
    const std::string code = code_of(rows(R"(
      %b = call i32 @cupola.ctaid.x()
      %first = mul i32 )" + from + R"(, 16
      %i = add i32 %first, %t
      %last = add nsw i32 %n, -1
      %here = icmp sgt i32 %i, 100
      br i1 %here, label %write, label %on
    write:
      store i32 %n, ptr %p
      br label %on
    on:
      call void @cupola.barrier(i32 0, i32 0)
      %there = icmp eq i32 %i, %last
      br i1 %there, label %again, label %over
    again:
      store i32 %n, ptr %q
      br label %over
    over:
      ret void)"));
    EXPECT_FALSE(has(code, "store <32 x i32>")) << from << code;
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
