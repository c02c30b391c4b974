#include "backend/cpu/build/next_turns.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/cpu/build/intrinsics.h"
#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/place_arguments.h"
#include "backend/cpu/build/test_program.h"

namespace cupola::cpu::build::testing {
namespace {

/// How many lines are asked for in code that goes through %p in turns, from %i on by %n: `read` has %i, and `barrier`
/// is in each turn.
unsigned prefetched(const std::string& read, const std::string& barrier = "call void @cupola.barrier(i32 0, i32 0)") {
  llvm::LLVMContext context;
  auto module = parse(context, R"(
    @tile = internal addrspace(3) global [1024 x i32] undef
    declare i32 @cupola.tid.x()
    declare void @cupola.barrier(i32, i32)
    declare <32 x i32> @llvm.masked.load.v32i32.p0(ptr, <32 x i1>, <32 x i32>)
    define internal void @warp(ptr %context, ptr %p, ptr %q, i32 %n) {
    start:
      %t = call i32 @cupola.tid.x()
      br label %turn
    turn:
      %i = phi i32 [ %t, %start ], [ %next, %turn ]
      %z = phi i32 [ 0, %start ], [ %above, %turn ]
      )" + read + R"(
      store <32 x i32> %v, ptr %q
      )" + barrier + R"(
      %next = add i32 %i, %n
      %above = add i32 %z, 1
      %more = icmp ult i32 %above, %n
      br i1 %more, label %turn, label %over
    over:
      ret void
    })");
  auto machine = machine_for("cpu:test");
  EXPECT_TRUE(machine && retarget(*module, **machine) && lower_intrinsics(*module, 0));
  const PlacedCode placed = give_places_as_arguments(*module->getFunction("warp"));
  prefetch_next_turns(placed);
  EXPECT_FALSE(llvm::verifyFunction(*placed.code, &llvm::errs()));
  return static_cast<unsigned>(llvm::count_if(llvm::instructions(*placed.code), [](const llvm::Instruction& one) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&one);
    return call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
  }));
}

const std::string kPlace = "%far = sext i32 %i to i64\n %place = getelementptr i32, ptr %p, i64 %far\n";

TEST(NextTurns, RowsOfMemoryAreAskedForATurnBefore) {
  EXPECT_EQ(prefetched(kPlace + "%v = load <32 x i32>, ptr %place"), 2u);
  EXPECT_EQ(
      prefetched(kPlace + "%v = call <32 x i32> @llvm.masked.load.v32i32.p0(ptr %place, <32 x i1> splat (i1 true), "
                          "<32 x i32> poison)"),
      2u);
}

TEST(NextTurns, NothingIsAskedForThatIsThereOrUnknown) {
  EXPECT_EQ(prefetched(kPlace + "%v = load <32 x i32>, ptr %place", ""), 0u);  // the processor sees a loop
  EXPECT_EQ(prefetched("%v = load <32 x i32>, ptr %p"), 0u);                   // the same in each turn
  EXPECT_EQ(prefetched("%at = load i32, ptr %p\n %far = sext i32 %at to i64\n"
                       "%place = getelementptr i32, ptr %p, i64 %far\n %v = load <32 x i32>, ptr %place"),
            0u);  // where is only known then
  EXPECT_EQ(prefetched(kPlace + "%one = load i32, ptr %place\n"
                                "%v = insertelement <32 x i32> zeroinitializer, i32 %one, i32 0"),
            0u);  // no row
}

}  // namespace
}  // namespace cupola::cpu::build::testing
