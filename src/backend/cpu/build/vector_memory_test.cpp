#include "backend/cpu/build/vector_memory.h"

#include <fstream>
#include <iterator>
#include <numeric>
#include <regex>

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
    start:
      )" +
         kRowOfBlock + R"(
      %column = getelementptr [32 x i32], ptr %q, i64 %x
      )" +
         body +
         R"(
    })";
}

std::string code_of(const std::string& body, const std::string& level = "x86-64-v4") {
  return host_code(rows(body), "kernel.block.rows16.k", level);
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
  EXPECT_TRUE(has(code_of(kStoreBySome + "%column" + end), "masked.scatter"));
  EXPECT_FALSE(has(code_of(kStoreBySome + "%row" + end), "masked.scatter"));
  EXPECT_FALSE(has(code_of("store i32 %t, ptr %row\n ret void"), "masked.scatter"));
}

TEST(VectorMemory, RowsAreWrittenForAllLanesTooWhereMasksTakeLonger) {
  const std::string body =
      "%some = icmp slt i32 %t, %n\n br i1 %some, label %write, label %over\nwrite:\n"
      "store i32 %y, ptr %cell\n br label %over\nover:\n ret void";
  const auto has_plain = [&](const char* level) {
    return std::regex_search(code_of(body, level), std::regex("store <16 x i32>.*, align 4[^0-9]"));
  };
  EXPECT_TRUE(has(code_of(body, "x86-64-v3"), "llvm.masked.store"));
  EXPECT_TRUE(has_plain("x86-64-v3"));
  EXPECT_FALSE(has_plain("x86-64-v4"));
}

TEST(VectorMemory, RowsOfWhichAllLanesAreThereNeedNoMask) {
  const std::string body =
      "%some = icmp eq i32 %y, 3\n br i1 %some, label %write, label %over\nwrite:\n"
      "%v = load i32, ptr %cell\n %w = add i32 %v, 1\n store i32 %w, ptr %cell\n br label %over\nover:\n ret void";
  const std::string code = code_of(body, "x86-64-v3");
  EXPECT_TRUE(has(code, "load <16 x i32>"));
  EXPECT_FALSE(has(code, "llvm.masked"));
  EXPECT_TRUE(has(code_of(body), "llvm.masked"));
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
  const std::string code = code_of(R"(
      %some = icmp slt i32 %y, %n
      br i1 %some, label %write, label %over
    write:
      store i32 %t, ptr %cell
      br label %over
    over:
      ret void)");
  EXPECT_TRUE(has(code, "masked.store"));
  EXPECT_FALSE(has(code, "insertelement <32 x i1>")) << code;  // of which a mask would be put together
}

// What a branch brings where its ways meet it brings in each turn: nothing of the turn before is needed.
TEST(VectorMemory, NoVectorIsCarriedFromTurnToTurnThatEachTurnMakes) {
  const std::string code = code_of(R"(
      br label %turn
    turn:
      %i = phi i32 [ 0, %start ], [ %next, %both ]
      %some = icmp slt i32 %t, %i
      br i1 %some, label %read, label %both
    read:
      %place = getelementptr i32, ptr %cell, i32 %i
      %value = load i32, ptr %place
      br label %both
    both:
      %found = phi i32 [ %value, %read ], [ 0, %turn ]
      %to = getelementptr [64 x i32], ptr %column, i32 %i
      store i32 %found, ptr %to
      %next = add i32 %i, 1
      %more = icmp slt i32 %next, %n
      br i1 %more, label %turn, label %over
    over:
      ret void)",
                                   "kernel.block.warp.k");
  const std::string phi = "phi <32 x i32>";
  const size_t found = code.find(phi);  // what the ways bring
  ASSERT_NE(found, std::string::npos) << code;
  EXPECT_EQ(code.find(phi, found + 1), std::string::npos) << code;
}

/// Threads from the %n-th on read what lies %n before their own: kernel @k.
const std::string kBehind = R"(
    declare i32 @cupola.tid.x()
    define ptx_kernel void @k(ptr %p, ptr %q, i32 %n) {
    start:
      %t = call i32 @cupola.tid.x()
      %some = icmp uge i32 %t, %n
      br i1 %some, label %read, label %both
    read:
      %i = sub i32 %t, %n
      %far = zext i32 %i to i64
      %place = getelementptr i32, ptr %p, i64 %far
      %value = load i32, ptr %place
      br label %both
    both:
      %found = phi i32 [ %value, %read ], [ -1, %start ]
      %to.far = zext i32 %t to i64
      %to = getelementptr i32, ptr %q, i64 %to.far
      store i32 %found, ptr %to
      ret void
    })";

TEST(VectorMemory, IndicesThatWrapBeforeTheLanesThatRunAreInOrder) {
  TestProgram program(kBehind);
  std::vector<uint32_t> from(128), to(128);
  std::iota(from.begin(), from.end(), 1000);
  for (uint32_t n = 0; n <= 130; ++n) {
    program.call_for_blocks("k", {1}, {128}, 1, from.data(), to.data(), n);
    for (uint32_t t = 0; t < 128; ++t) ASSERT_EQ(to[t], t < n ? ~0u : from[t - n]) << n << ", " << t;
  }
  // Which lane is the first is asked for where it is not lane 0.
  EXPECT_TRUE(has(host_code(kBehind), "llvm.cttz.i32("));
}

// Made of the block's number or of a parameter: made again after the barrier.
TEST(VectorMemory, NoVectorIsKeptThatCanBeMadeAgain) {
  for (const std::string from : {"%b", "%n"}) {
    const std::string code = code_of(R"(
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
      ret void)");
    EXPECT_FALSE(has(code, "store <32 x i32>")) << from << code;
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
