#include "backend/cpu/build/block_updates.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>

#include <bit>

#include "backend/cpu/build/test_program.h"

// Which updates are gathered, in a loop over blocks that is written here; and what a kernel leaves behind that does so.

namespace cupola::cpu::build::testing {
namespace {

/// Updates in loops.
size_t in_loops(llvm::Function& code) {
  llvm::DominatorTree dominators(code);
  const llvm::LoopInfo loops(dominators);
  return static_cast<size_t>(llvm::count_if(llvm::instructions(code), [&](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::AtomicRMWInst>(instruction) && loops.getLoopFor(instruction.getParent());
  }));
}

/// Updates that are left in the loop over blocks; `body` is a block's code, in which %b is its number.
size_t left_in_loop(const std::string& body) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare void @other()
    declare <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr>, <32 x i1>, <32 x i32>)
    define void @code(ptr %context, ptr %p, ptr %q, ptr byval(i64) %parameter, <32 x ptr> %all) {
    start:
      %array = alloca i32
      br label %block
    block:
      %b = phi i32 [ 0, %start ], [ %next, %end ]
      %bl = zext i32 %b to i64
      %number = getelementptr i8, ptr %context, i64 36
      store volatile i32 %b, ptr %number
      )" + body + R"(
      br label %end
    end:
      %next = add i32 %b, 1
      %more = icmp ult i32 %next, 9
      br i1 %more, label %block, label %over
    over:
      ret void
    })");
  if (!module) return 99;
  llvm::Function& code = *module->getFunction("code");
  const auto named = [&](const char* name) {
    return &*llvm::find_if(code, [&](const llvm::BasicBlock& block) { return block.getName() == name; });
  };
  gather_updates(code, {llvm::cast<llvm::BranchInst>(named("end")->getTerminator())});
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs())) << body;
  return in_loops(code);
}

const std::string kAdd = "%r = atomicrmw add ptr %p, i32 %b monotonic\n";

TEST(BlockUpdates, AreGatheredWhereAllBlocksUpdateOnePlace) {
  for (const std::string operation : {"add", "sub", "and", "or", "xor", "max", "min", "umax", "umin"})
    EXPECT_EQ(left_in_loop("%r = atomicrmw " + operation + " ptr %p, i32 %b monotonic\n"), 0u) << operation;
  EXPECT_EQ(left_in_loop("%f = sitofp i32 %b to float\n %r = atomicrmw fadd ptr %p, float %f monotonic\n"), 0u);
  EXPECT_EQ(left_in_loop("%f = sitofp i32 %b to double\n %r = atomicrmw fsub ptr %p, double %f monotonic\n"), 0u);
  EXPECT_EQ(left_in_loop("%to = getelementptr i32, ptr %p, i64 3\n %r = atomicrmw add ptr %to, i32 1 monotonic\n"), 0u);
  EXPECT_EQ(left_in_loop("%to = load ptr, ptr %parameter\n %r = atomicrmw add ptr %to, i32 1 monotonic\n"), 0u);
  EXPECT_EQ(left_in_loop(kAdd + "%s = atomicrmw sub ptr %q, i32 %b monotonic\n"), 0u);  // in any order
}

TEST(BlockUpdates, AreNotGatheredOfPlacesThatDiffer) {
  EXPECT_EQ(left_in_loop("%to = getelementptr i32, ptr %p, i64 %bl\n %r = atomicrmw add ptr %to, i32 1 monotonic\n"),
            1u);
  EXPECT_EQ(left_in_loop("%to = load ptr, ptr %q\n %r = atomicrmw add ptr %to, i32 1 monotonic\n"), 1u);
}

TEST(BlockUpdates, AreNotGatheredWhoseResultIsUsed) {
  EXPECT_EQ(left_in_loop(kAdd + "store i32 %r, ptr %array\n"), 1u);
}

TEST(BlockUpdates, AreNotGatheredOfOtherKinds) {
  EXPECT_EQ(left_in_loop("%r = atomicrmw xchg ptr %p, i32 %b monotonic\n"), 1u);
  EXPECT_EQ(left_in_loop("%r = atomicrmw volatile add ptr %p, i32 %b monotonic\n"), 1u);
  EXPECT_EQ(left_in_loop("%r = atomicrmw add ptr %p, i32 %b acq_rel\n"), 1u);
  EXPECT_EQ(left_in_loop("%r = atomicrmw fmax ptr %p, float 1.0 monotonic\n"), 1u);
}

// "The last block that comes here ..." of so many reductions.
TEST(BlockUpdates, AreNotGatheredWhereOthersAreTold) {
  for (const std::string telling :
       {"fence release\n", "call void @other()\n",
        "%t = atomicrmw add ptr %q, i32 1 monotonic\n store i32 %t, ptr %q\n", "store volatile i32 1, ptr %q\n",
        "%f = load atomic i32, ptr %q monotonic, align 4\n"}) {
    EXPECT_GE(left_in_loop(kAdd + telling), 1u) << telling;
    EXPECT_GE(left_in_loop(telling + kAdd), 1u) << telling;
  }
}

TEST(BlockUpdates, AreGatheredAfterWhatAThreadReads) {
  EXPECT_EQ(left_in_loop("%v = load i32, ptr %q\n %r = atomicrmw add ptr %p, i32 %v monotonic\n"), 0u);
  EXPECT_EQ(left_in_loop("store i32 1, ptr %q\n" + kAdd), 0u);
}

TEST(BlockUpdates, AreNotGatheredBeforeAThreadLooksAtMemory) {
  for (const std::string look :
       {"%v = load i32, ptr %q\n", "store i32 1, ptr %q\n", "%s = atomicrmw max ptr %q, i32 1 monotonic\n",
        "%g = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> %all, <32 x i1> poison, <32 x i32> poison)\n",
        "br label %later\n later:\n %v = load i32, ptr %q\n"})
    EXPECT_GE(left_in_loop(kAdd + look), 1u) << look;
  // In the next turn of a loop of its own.
  EXPECT_EQ(left_in_loop(
                "br label %turn\n turn:\n %i = phi i32 [ 0, %block ], [ %up, %turn ]\n %v = load i32, ptr %q\n" + kAdd +
                "%up = add i32 %i, 1\n %go = icmp ult i32 %up, 3\n br i1 %go, label %turn, label %on\n "
                "on:\n"),
            1u);
}

TEST(BlockUpdates, WhatIsTheBlocksOwnIsNoMatter) {
  EXPECT_EQ(left_in_loop(kAdd + "store i32 %b, ptr %array\n"), 0u);
  EXPECT_EQ(left_in_loop(kAdd + "%v = load i64, ptr %parameter\n"), 0u);
  const auto through_field = [](size_t offset) {
    return left_in_loop(kAdd + "%f = getelementptr i8, ptr %context, i64 " + std::to_string(offset) +
                        "\n %w = load ptr, ptr %f\n %c = getelementptr i32, ptr %w, i64 %bl\n"
                        " %v = load i32, ptr %c\n store i32 %v, ptr %c\n");
  };
  EXPECT_EQ(through_field(offsetof(ThreadContext, shared_window)), 0u);
  EXPECT_EQ(through_field(offsetof(ThreadContext, places) + sizeof(void*)), 0u);
  EXPECT_EQ(through_field(offsetof(ThreadContext, module_data)), 1u);
}

/// Updates that stand in loops of what blocks of a kernel become, whose thread 0 adds where `body` says "ADD".
size_t left_in_kernel(std::string body, const std::string& entry) {
  const size_t at = body.find("ADD");
  body.replace(at, 3, R"(
      br i1 %first, label %add, label %on
    add:
      %r = atomicrmw add ptr %p, i32 %b monotonic
      br label %on
    on:)");
  const std::string path = ::testing::TempDir() + "block_updates-" + std::to_string(getpid());
  llvm::LLVMContext built_in;
  EXPECT_TRUE(build(parse(built_in, R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.ctaid.x()
    declare void @cupola.barrier(i32, i32)
    define ptx_kernel void @k(ptr %p, ptr %q) {
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %b = call i32 @cupola.ctaid.x()
      %at = or i32 %t, %y
      %first = icmp eq i32 %at, 0
      %far = zext i32 %t to i64
      %cell = getelementptr i32, ptr %q, i64 %far
      )" + body + "\n ret void\n }"),
                    {.target = "cpu:test", .keep = path}));
  const std::string text = take_kept_code(path);
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(text, error, context);
  if (!module) ADD_FAILURE() << error.getMessage().str();
  return module ? in_loops(*module->getFunction(entry)) : 99;
}

TEST(BlockUpdates, ThreadsThatMetLookLater) {
  const std::string meet = "call void @cupola.barrier(i32 0, i32 0)\n";
  const std::string look = "%v = load i32, ptr %cell\n %w = add i32 %v, 1\n store i32 %w, ptr %cell\n";
  for (const std::string entry : {"kernel.block.warp.k", "kernel.block.rows16.k"}) {
    EXPECT_EQ(left_in_kernel("ADD\n" + meet + look, entry), 1u) << entry;
    EXPECT_EQ(left_in_kernel(look + meet + "ADD\n", entry), 0u) << entry;
  }
}

/// Thread 0 of each of 6 blocks adds, if %b is at least %from.
constexpr const char* kSums = R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    define ptx_kernel void @k(ptr %p, float %x, i32 %from) {
      %t = call i32 @cupola.tid.x()
      %b = call i32 @cupola.ctaid.x()
      %first = icmp eq i32 %t, 0
      %late = icmp uge i32 %b, %from
      %some = and i1 %first, %late
      br i1 %some, label %add, label %over
    add:
      %r = atomicrmw fadd ptr %p, float %x monotonic, align 4
      br label %over
    over:
      ret void
    })";

TEST(BlockUpdates, SumsOfBlocksAreAdded) {
  TestProgram program(kSums);
  for (const uint32_t threads : {32u, 40u}) {
    float sum = 10;
    program.call_for_blocks("k", {6}, {threads}, 6, &sum, 0.25f, 2);
    EXPECT_EQ(sum, 11);
  }
}

TEST(BlockUpdates, WhereNoBlockUpdatesThereMayBeNoMemory) {
  TestProgram program(kSums);
  float* const none = nullptr;
  program.call_for_blocks("k", {6}, {32}, 6, none, 0.25f, 9);
}

// As an H200 does in global memory (tests/ptx/values/atomics.tsv): each sum by itself.
TEST(BlockUpdates, SumsFlushDenormals) {
  TestProgram program(kSums);
  float sum = 0;
  program.call_for_blocks("k", {6}, {32}, 6, &sum, std::bit_cast<float>(0x00400000), 0);
  EXPECT_EQ(std::bit_cast<uint32_t>(sum), 0u);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
