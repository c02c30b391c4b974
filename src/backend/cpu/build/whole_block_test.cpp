#include "backend/cpu/build/test_program.h"

// Which code runs a block at a time. That it computes the same is VectorDifferential's to show, and in_step.cu's.

namespace cupola::cpu::build::testing {
namespace {

/// Whether code for a block of each class runs it whole; `body` has %t and may end the kernel.
bool runs_whole(const std::string& body, const std::string& more = "") {
  auto built = build_text(R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare void @cupola.barrier(i32, i32)
    declare void @cupola.barrier_arrive(i32, i32)
    declare i32 @cupola.barrier_reduce(i32, i32, i32, i32)
    declare void @cupola.grid.sync()
    declare i64 @cupola.shuffle(i32, i32, i32, i32, i32)
    )" + more + R"(
    define ptx_kernel void @k(ptr %p) {
      %t = call i32 @cupola.tid.x()
      )" + body + R"(
      ret void
    })");
  if (!built) {
    ADD_FAILURE() << built.error().message;
    return false;
  }
  const image::Kernel& kernel = built->kernels[0];
  EXPECT_NE(kernel.wide_entries[image::BlockClass::Rows].place, image::kNoEntry);
  EXPECT_NE(kernel.wide_entries[image::BlockClass::Any].place, image::kNoEntry);
  EXPECT_EQ(kernel.wide_entries[image::BlockClass::Rows].whole_block,
            kernel.wide_entries[image::BlockClass::Any].whole_block);
  return kernel.wide_entries[image::BlockClass::Rows].whole_block;
}

TEST(WholeBlock, IsCodeThatNeverWaits) {
  EXPECT_TRUE(runs_whole("store i32 %t, ptr %p"));
  EXPECT_TRUE(runs_whole("%v = call i64 @cupola.shuffle(i32 -1, i32 2, i32 %t, i32 1, i32 31)\n store i64 %v, ptr %p"));
}

TEST(WholeBlock, IsCodeThatWaitsForAllThreads) {
  EXPECT_TRUE(runs_whole("call void @cupola.barrier(i32 0, i32 0)"));
  EXPECT_TRUE(runs_whole("%n = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 1, i32 %t)\n store i32 %n, ptr %p"));
}

// Retries of an atomic sum are no waiting, also where lanes retry one by one.
TEST(WholeBlock, IsCodeThatRetries) {
  EXPECT_TRUE(
      runs_whole("%old = atomicrmw fadd ptr %p, float 1.0 monotonic\n call void @cupola.barrier(i32 0, i32 0)"));
}

TEST(WholeBlock, IsNoCodeThatWaitsForSome) {
  EXPECT_FALSE(runs_whole("call void @cupola.barrier(i32 1, i32 0)"));
  EXPECT_FALSE(runs_whole("call void @cupola.barrier(i32 0, i32 64)"));
  EXPECT_FALSE(runs_whole("call void @cupola.barrier_arrive(i32 0, i32 64)"));
}

TEST(WholeBlock, IsNoCodeThatWaitsForOtherBlocks) {
  EXPECT_FALSE(runs_whole("call void @cupola.grid.sync()"));
  EXPECT_FALSE(runs_whole(R"(
      br label %wait
    wait:
      %flag = load volatile i32, ptr %p
      %set = icmp ne i32 %flag, 0
      br i1 %set, label %on, label %wait
    on:)"));
}

// Each warp keeps its threads' arrays while it waits, on one stack for all.
TEST(WholeBlock, IsNoCodeThatKeepsMuchWhileItWaits) {
  const auto keeps = [](const std::string& count) {
    return runs_whole("%a = alloca [" + count + R"( x i32]
      %i = load i32, ptr %p
      %cell = getelementptr i32, ptr %a, i32 %i
      store i32 %t, ptr %cell
      call void @cupola.barrier(i32 0, i32 0)
      %j = load i32, ptr %p
      %other = getelementptr i32, ptr %a, i32 %j
      %v = load i32, ptr %other
      store i32 %v, ptr %p)");
  };
  EXPECT_TRUE(keeps("32"));    // 4 KiB a warp
  EXPECT_FALSE(keeps("128"));  // 16 KiB
}

}  // namespace
}  // namespace cupola::cpu::build::testing
