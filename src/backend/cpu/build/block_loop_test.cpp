#include <gmock/gmock.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include "backend/cpu/build/kernel_unit.h"
#include "backend/cpu/build/test_program.h"

// What loops over blocks and warps leave to LLVM where their sizes are known. That they run each thread once is in
// vector_differential_test.cpp.

namespace cupola::cpu::build::testing {
namespace {

/// LLVM's text of the code for blocks of one shape.
std::string code_for(const std::string& text, const Dim3& block) {
  const std::string path = ::testing::TempDir() + "block_loop-" + std::to_string(getpid());
  const BuildOptions options{.target = "cpu:x86_64:x86-64-v4", .keep = path};
  llvm::LLVMContext context;
  const auto unit = build(parse(context, text), {.target = options.target, .later = true});
  EXPECT_TRUE(unit) << unit.error().message;
  EXPECT_TRUE(
      build_unit(read_unit(context, unit->kernels[0].unit).value(), {image::class_of(block), block, true}, options));
  return take_kept_code(path);
}

/// How many loops lie in each other in it.
unsigned depth_of(const std::string& text, const Dim3& block) {
  llvm::LLVMContext context;
  const auto module = parse(context, code_for(text, block));
  unsigned depth = 0;
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (const llvm::BasicBlock& one : function) depth = std::max(depth, loops.getLoopDepth(&one));
  }
  return depth;
}

/// `body` makes %v and %to, where it is written, of %x, the thread's place in its block's row.
std::string kernel(const std::string& body) {
  return R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.ctaid.x()
    define ptx_kernel void @k(ptr %out, ptr %in) {
      %x = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %b = call i32 @cupola.ctaid.x()
      )" +
         body + R"(
      store i32 %v, ptr %to
      br label %over
    over:
      ret void
    })";
}

// Rows of threads, blocks beside each other, their warps: the last loop is none where a row is a warp.
TEST(BlockLoop, HasNoLoopOfOneTurn) {
  const std::string rows = kernel(R"(
      %v = add i32 %x, 7
      %begin = shl i32 %b, 8
      %place = add i32 %begin, %x
      %up = shl i32 %y, 16
      %index = add i32 %up, %place
      %far = zext i32 %index to i64
      %to = getelementptr i32, ptr %out, i64 %far)");
  EXPECT_EQ(depth_of(rows, {64, 4}), 4u);
  EXPECT_EQ(depth_of(rows, {32, 4}), 3u);
  EXPECT_EQ(depth_of(rows, {32}), 2u);
}

// Which lanes a thread's place in its row is a warp's first of is known, and asked of none.
TEST(BlockLoop, SaysThatAWarpBeginsAtAMultipleOfItsThreads) {
  const std::string first = kernel(R"(
      br label %loop
    loop:
      %i = phi i32 [ %x, %0 ], [ %next, %loop ]
      %sum = phi i32 [ 0, %0 ], [ %v, %loop ]
      %i.far = zext i32 %i to i64
      %at = getelementptr i32, ptr %in, i64 %i.far
      %read = load i32, ptr %at
      %v = add i32 %sum, %read
      %next = add i32 %i, 64
      %more = icmp ult i32 %next, %read
      br i1 %more, label %loop, label %behind
    behind:
      %lane = and i32 %x, 31
      %is.first = icmp eq i32 %lane, 0
      br i1 %is.first, label %act, label %over
    act:
      %warp = lshr i32 %x, 5
      %high = shl i32 %b, 6
      %low = shl i32 %y, 3
      %some = or i32 %high, %low
      %index = add i32 %some, %warp
      %far = zext i32 %index to i64
      %from = getelementptr i32, ptr %in, i64 %far
      %where = load i32, ptr %from
      %where.far = sext i32 %where to i64
      %to = getelementptr i32, ptr %out, i64 %where.far)");
  for (const Dim3& block : {Dim3{256}, Dim3{64, 2}})
    EXPECT_THAT(code_for(first, block), ::testing::Not(::testing::HasSubstr("icmp eq <32 x i32>"))) << block.y;
}

}  // namespace
}  // namespace cupola::cpu::build::testing
