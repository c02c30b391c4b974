#include "backend/cpu/build/turned_stores.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/test_program.h"

// Which stores are done by others of the block. That they are the same stores VectorDifferential tests.

namespace cupola::cpu::build::testing {
namespace {

/// A kernel of a thread at column %x and row %y of a matrix, whose place in the transposed one is %place; `body` ends
/// in a branch to %out.
std::string kernel(const std::string& body) {
  return R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ctaid.y()
    declare i32 @cupola.laneid()
    declare void @cupola.barrier(i32, i32)
    declare void @other()
    @sum = addrspace(1) global i32 0
    define void @k(ptr %context, ptr %from, ptr %to, i32 %n) {
    start:
      %tx = call i32 @cupola.tid.x()
      %ty = call i32 @cupola.tid.y()
      %bx = call i32 @cupola.ctaid.x()
      %by = call i32 @cupola.ctaid.y()
      %left = mul i32 %bx, 16
      %top = mul i32 %by, 16
      %x = add i32 %left, %tx
      %y = add i32 %top, %ty
      %line = mul i32 %x, %n
      %number = add i32 %line, %y
      %wide = sext i32 %number to i64
      %place = getelementptr float, ptr %to, i64 %wide
      %here = sext i32 %x to i64
      %source = getelementptr float, ptr %from, i64 %here
      %value = load float, ptr %source
      )" +
         body +
         R"(
    out:
      ret void
    })";
}

constexpr const char* kStore = "store float %value, ptr %place\nbr label %out\n";

/// Whether a store is turned, in code that is well formed then.
bool turns(const std::string& body, const Dim3& shape = {16, 16}) {
  llvm::LLVMContext context;
  const auto module = parse(context, kernel(body));
  llvm::Function& function = *module->getFunction("k");
  turn_stores(function, shape);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  return has_turned_stores(function);
}

TEST(TurnedStores, AreThoseDownTheColumnsOfSquareBlocks) {
  EXPECT_TRUE(turns(kStore));
  EXPECT_TRUE(turns(kStore, {32, 32}));
  EXPECT_FALSE(turns(kStore, {16, 8}));
  EXPECT_FALSE(turns(kStore, {16, 16, 2}));
  EXPECT_FALSE(turns(kStore, {1, 1}));
}

TEST(TurnedStores, AreThoseUnderConditionsOfTheirPlace) {
  EXPECT_TRUE(turns(R"(
      %in = icmp slt i32 %x, %n
      br i1 %in, label %rows, label %out
    rows:
      %below = icmp slt i32 %y, %n
      br i1 %below, label %store, label %out
    store:
      )" + std::string(kStore)));
}

TEST(TurnedStores, AreNotThoseThatLieOtherwise) {
  const auto place = [](const std::string& number) {
    return "%i = " + number + R"(
      %w = sext i32 %i to i64
      %p = getelementptr float, ptr %to, i64 %w
      store float %value, ptr %p
      br label %out
      )";
  };
  EXPECT_TRUE(turns(place("add i32 %line, %ty")));
  EXPECT_FALSE(turns(place("mul i32 %number, 2"))) << "every other place";
  EXPECT_FALSE(turns("%near = mul i32 %tx, 16\n" + place("add i32 %near, %ty"))) << "columns of a line each";
  EXPECT_TRUE(turns("%distant = mul i32 %tx, 128\n" + place("add i32 %distant, %ty")));
}

TEST(TurnedStores, AreNotThoseBehindWhichAThreadTouchesMemory) {
  EXPECT_FALSE(turns("store float %value, ptr %place\n%again = load float, ptr %source\nbr label %out\n"));
  EXPECT_FALSE(turns("store float %value, ptr %place\nstore float %value, ptr %to\nbr label %out\n"));
  EXPECT_TRUE(turns("store float %value, ptr %from\nstore float %value, ptr %place\nbr label %out\n"));
  EXPECT_FALSE(turns(R"(
      store float %value, ptr %place
      br label %then
    then:
      store float %value, ptr %to
      br label %out
    )"));
}

TEST(TurnedStores, AreNotThoseInLoops) {
  EXPECT_FALSE(turns(R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %start ], [ %next, %loop ]
      store float %value, ptr %place
      %next = add i32 %i, 1
      %go = icmp slt i32 %next, %n
      br i1 %go, label %loop, label %out
    )"));
}

TEST(TurnedStores, AreNotThoseWhosePlaceOrConditionIsRead) {
  EXPECT_FALSE(turns(R"(
      %full = fcmp ogt float %value, 0.0
      br i1 %full, label %store, label %out
    store:
      )" + std::string(kStore)));
  EXPECT_FALSE(turns(R"(
      %pitch = load i32, ptr %from
      %l = mul i32 %x, %pitch
      %i = add i32 %l, %y
      %w = sext i32 %i to i64
      %p = getelementptr float, ptr %to, i64 %w
      store float %value, ptr %p
      br label %out
    )"));
  EXPECT_FALSE(turns(R"(
      %lane = call i32 @cupola.laneid()
      %low = icmp ult i32 %lane, 4
      br i1 %low, label %store, label %out
    store:
      )" + std::string(kStore)))
      << "what another thread's lane is does not follow from its place alone";
  EXPECT_FALSE(turns(R"(
      %quotient = sdiv i32 %x, %n
      %low = icmp ult i32 %quotient, 4
      br i1 %low, label %store, label %out
    store:
      )" + std::string(kStore)))
      << "it may stop the program where the thread itself did not ask";
}

TEST(TurnedStores, AreNotInKernelsThatMeetOrShareMemoryOrCallOthers) {
  EXPECT_FALSE(turns("call void @cupola.barrier(i32 0, i32 0)\n" + std::string(kStore)));
  EXPECT_FALSE(turns("call void @other()\n" + std::string(kStore)));
  EXPECT_FALSE(turns("store atomic float %value, ptr %place monotonic, align 4\nbr label %out\n"));
  EXPECT_FALSE(turns("store volatile float %value, ptr %place\nbr label %out\n"));
  EXPECT_FALSE(turns("%old = atomicrmw add ptr %from, i32 1 monotonic\n" + std::string(kStore)));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
