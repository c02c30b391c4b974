#include "backend/cpu/build/lone_loops.h"

#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/test_program.h"
#include "base/format.h"
#include "kir/call_reach.h"

// Which loops threads go through one after the other. That they compute the same is VectorDifferential's to show.

namespace cupola::cpu::build::testing {
namespace {

/// Thread t goes through %n words at %row, which is its own, and does `turn` with %word and %sum, which becomes
/// %next_sum. `goes_on`: of %next, and of %last, which each thread has read.
std::string walk(const std::string& turn, const std::string& goes_on = "icmp slt i32 %next, %n") {
  return R"(
    declare i32 @cupola.tid.x()
    declare void @cupola.barrier(i32, i32)
    define ptx_kernel void @k(ptr %p, ptr %q, i32 %n) {
      %mine = alloca [64 x i32]
      %t = call i32 @cupola.tid.x()
      %t64 = zext i32 %t to i64
      %begin = mul i32 %t, %n
      %begin64 = zext i32 %begin to i64
      %row = getelementptr i32, ptr %p, i64 %begin64
      %cell = getelementptr i32, ptr %q, i64 %t64
      %last = load i32, ptr %cell
      br label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %loop ]
      %sum = phi i32 [ 0, %0 ], [ %next_sum, %loop ]
      %i64 = zext i32 %i to i64
      %place = getelementptr i32, ptr %row, i64 %i64
      %word = load i32, ptr %place
      )" +
         turn + "\n %next = add i32 %i, 1\n %goes_on = " + goes_on + R"(
      br i1 %goes_on, label %loop, label %end
    end:
      %found = phi i32 [ %next_sum, %loop ]
      call void @cupola.barrier(i32 0, i32 0)
      store i32 %found, ptr %cell
      br label %out
    out:
      ret void
    })";
}

const std::string kSum = "%next_sum = add i32 %sum, %word\n";

size_t taken(const std::string& text) {
  llvm::LLVMContext context;
  const auto module = parse(context, text);
  LoneLoops loops;
  loops.take_out(*module->getFunction("k"), image::BlockClass::Rows);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  module->getFunction("k")->eraseFromParent();
  return loops.functions().size();
}

TEST(LoneLoops, WalkMemoryOfTheThread) {
  EXPECT_EQ(taken(walk(kSum)), 1u);
  EXPECT_EQ(taken(walk(kSum + "store i32 %sum, ptr %place")), 1u) << "what is before";
}

TEST(LoneLoops, PutBackTakeThePlaceOfTheirCalls) {
  llvm::LLVMContext context;
  const auto module = parse(context, walk(kSum));
  llvm::Function& kernel = *module->getFunction("k");
  LoneLoops loops;
  loops.take_out(kernel, image::BlockClass::Rows);
  EXPECT_TRUE(module->getFunction("lone.loop"));
  loops.put_back(kernel);
  EXPECT_FALSE(llvm::verifyFunction(kernel, &llvm::errs()));
  EXPECT_TRUE(module->getFunction("lone.loop")->use_empty());
}

// Who calls whom was looked at before they were made.
TEST(LoneLoops, CallNobody) {
  llvm::LLVMContext context;
  const auto module = parse(context, walk(kSum));
  llvm::Function& kernel = *module->getFunction("k");
  const kir::CallReach reach(*module);
  LoneLoops loops;
  loops.take_out(kernel, image::BlockClass::Rows);
  EXPECT_EQ(reach.from(module->getFunction("lone.loop")).size(), 1u);
  kernel.eraseFromParent();
}

// Lanes share the lines that they read.
TEST(LoneLoops, DoNotReadRowsOfTheWarp) {
  std::string text = walk(kSum);
  text.replace(text.find("mul i32 %t, %n"), 14, "add i32 %t, %n");
  EXPECT_EQ(taken(text), 0u);
}

// Each turn waits for the one before: lanes wait at the same time.
TEST(LoneLoops, DoNotFollowChains) {
  EXPECT_EQ(taken(walk("%a = mul i32 %sum, %word\n %b = mul i32 %a, %word\n %next_sum = mul i32 %b, %word")), 0u);
}

TEST(LoneLoops, WaitForNobody) {
  std::string much = kSum;
  for (const char* more : {"a", "b", "c", "d", "e", "f"}) much += formatted("%{} = load i32, ptr %place\n", more);
  EXPECT_EQ(taken(walk(much)), 1u);
  EXPECT_EQ(taken(walk(much + "call void @cupola.barrier(i32 0, i32 0)")), 0u);
  EXPECT_EQ(taken(walk(kSum + "fence seq_cst")), 0u);
  EXPECT_EQ(taken(walk(kSum + "%v = load volatile i32, ptr %row")), 0u) << "counts on its warp's step";
  EXPECT_EQ(taken(walk(kSum + "%v = load atomic i32, ptr %row monotonic, align 4")), 0u);
}

// What the lanes that have left wait for takes no part.
TEST(LoneLoops, AreLeftTogether) {
  EXPECT_EQ(taken(walk(kSum, "icmp slt i32 %next, %last")), 0u);
}

TEST(LoneLoops, AreWorthTheCall) {
  EXPECT_EQ(taken(walk(kSum, "icmp slt i32 %next, 8")), 0u);
  EXPECT_EQ(taken(walk(kSum, "icmp slt i32 %next, 64")), 1u);
}

TEST(LoneLoops, AreOfKernelsForWarps) {
  std::string text = walk(kSum);
  text.replace(text.rfind("br label %out"), 13, "switch i32 %n, label %out [ i32 3, label %out ]");
  EXPECT_EQ(taken(text), 0u);
}

TEST(LoneLoops, LeaveArraysOfTheThreadToItsWarp) {
  EXPECT_EQ(taken(walk(kSum + "%own = getelementptr i32, ptr %mine, i64 %i64\n store i32 %word, ptr %own")), 0u);
}

TEST(LoneLoops, GiveFewResults) {
  const std::string found = "%found = phi i32 [ %next_sum, %loop ]\n";
  std::string more = found;
  const auto taken_with = [&](const std::string& more) {
    std::string text = walk(kSum);
    return taken(text.replace(text.find(found), found.size(), more));
  };
  for (const std::string result : {"i", "sum", "word"})
    more += "%last." + result + " = phi i32 [ %" + result + ", %loop ]\n";
  EXPECT_EQ(taken_with(more), 1u);
  EXPECT_EQ(taken_with(more + "%last.place = phi ptr [ %place, %loop ]\n"), 0u);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
