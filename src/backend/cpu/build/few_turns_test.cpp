#include "backend/cpu/build/few_turns.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/test_program.h"
#include "kir/kir.h"

// Which loops are written out. That their threads do what they did random kernels show.

namespace cupola::cpu::build::testing {
namespace {

/// How many loops are left of a kernel's, in blocks of 16 threads in x, %t of which is the thread's; 0 also for those
/// that cannot be reached any more. `leaving`: as many values come to each phi then.
size_t loops_left(const std::string& code, size_t leaving = 0) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare void @cupola.barrier(i32, i32) convergent
    define void @k(ptr %p, i32 %n) {
    start:
      %t = call range(i32 0, 16) i32 @cupola.tid.x()
      br label %head
    )" + code + R"(
    over:
      ret void
    })");
  llvm::Function& function = *module->getFunction("k");
  const bool some = write_out_few_turns(function);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  const llvm::DominatorTree dominators(function);
  const size_t left = llvm::LoopInfo(dominators).getLoopsInPreorder().size();
  EXPECT_EQ(some, left == 0);
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction); phi && leaving > 0)
      EXPECT_EQ(phi->getNumIncomingValues(), leaving);
  return left;
}

/// `for (i = first; i < end; i += 16)`.
size_t left_of(const std::string& first, const std::string& end, const std::string& body = "") {
  return loops_left(formatted(R"(
    head:
      %i = phi i32 [ {}, %start ], [ %next, %latch ]
      %go = icmp ult i32 %i, {}
      br i1 %go, label %body, label %over
    body:
      %x = zext i32 %i to i64
      %at = getelementptr i32, ptr %p, i64 %x
      store i32 %i, ptr %at
      {}
      br label %latch
    latch:
      %next = add nuw nsw i32 %i, 16
      br label %head
  )",
                              first, end, body));
}

TEST(FewTurns, AreWrittenOutWhereThreadsGoARoundAFewTimes) {
  EXPECT_EQ(left_of("%t", "22"), 0u) << "two turns for some, one for others";
  EXPECT_EQ(left_of("%t", "128"), 0u);
  EXPECT_EQ(left_of("%t", "129"), 1u);
  EXPECT_EQ(left_of("%t", "%n"), 1u);
  EXPECT_EQ(left_of("%n", "64"), 0u) << "wherever it begins";
}

/// What is left of the counter behind the loop is that of the turn which leaves.
TEST(FewTurns, LeaveWhatTheirLastTurnHas) {
  EXPECT_EQ(loops_left(R"(
    head:
      %i = phi i32 [ %t, %start ], [ %next, %body ]
      %go = icmp ult i32 %i, 40
      br i1 %go, label %body, label %behind
    body:
      %next = add nuw nsw i32 %i, 16
      br label %head
    behind:
      store i32 %i, ptr %p
      br label %over
  )",
                       /*leaving=*/4),
            0u);
}

TEST(FewTurns, OfAKnownNumberAreLeftToOthers) {
  EXPECT_EQ(left_of("0", "64"), 1u);
}

TEST(FewTurns, AreNotWrittenOutWhereThreadsMeetOrDoMuch) {
  EXPECT_EQ(left_of("%t", "22", "call void @cupola.barrier(i32 0, i32 0)"), 1u);
  std::string much;
  for (int i = 0; i < 250; ++i) much += "store volatile i32 %i, ptr %at\n";
  EXPECT_EQ(left_of("%t", "22", much), 1u);
}

TEST(FewTurns, AreNotWrittenOutWhereThreadsLeaveElsewhere) {
  EXPECT_EQ(left_of("%t", "22", "%some = icmp eq i32 %i, %n\nbr i1 %some, label %over, label %on\non:"), 1u);
}

TEST(FewTurns, AreThoseOfInnermostLoops) {
  EXPECT_EQ(loops_left(R"(
    head:
      %j = phi i32 [ %t, %start ], [ %j.next, %j.latch ]
      %j.go = icmp ult i32 %j, 22
      br i1 %j.go, label %inner, label %over
    inner:
      br label %i.head
    i.head:
      %i = phi i32 [ 0, %inner ], [ %i.next, %i.latch ]
      %i.go = icmp ult i32 %i, %n
      br i1 %i.go, label %i.latch, label %j.latch
    i.latch:
      store volatile i32 %i, ptr %p
      %i.next = add i32 %i, 1
      br label %i.head
    j.latch:
      %j.next = add nuw nsw i32 %j, 16
      br label %head
  )"),
            2u);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
