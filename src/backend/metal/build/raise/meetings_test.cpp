#include "backend/metal/build/raise/meetings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "kir/test_module.h"

// Oracle: which kernels Metal's rule of barriers forces into a loop. tests/metal runs what comes of them.

namespace cupola::metal::build {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A kernel `k` with that body, after its barriers became what Metal has.
struct Met {
  explicit Met(const std::string& body) {
    kir::TestModule module(R"(
      declare i32 @cupola.tid.x()
      declare i32 @cupola.ctaid.x()
      declare void @cupola.barrier(i32, i32) convergent
      declare void @cupola.barrier_arrive(i32, i32) convergent
      declare void @cupola.grid.sync() convergent
      declare void @cupola.exit() noreturn
      define ptx_kernel void @k() {)" +
                           body + "}");
    count_at_numbered_barriers(*module);
    llvm::Function& kernel = *module->getFunction("k");
    end_by_return(kernel);
    saved_bytes = make_threads_meet(kernel);
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
    text = module.text();
    text = text.substr(text.find("define"));
  }
  std::string text;
  uint32_t saved_bytes = 0;
};

const auto kIsALoop = AllOf(HasSubstr("call i64 @metal.meet(i32"), Not(HasSubstr("@cupola.barrier(")));

TEST(Meetings, ABarrierThatAllThreadsPassTogetherStays) {
  const Met met(R"(
      %b = call i32 @cupola.ctaid.x()
      %odd = trunc i32 %b to i1
      br i1 %odd, label %meet, label %done
    meet:
      call void @cupola.barrier(i32 0, i32 0)
      br label %done
    done:
      ret void)");
  EXPECT_THAT(met.text, AllOf(HasSubstr("call void @cupola.barrier(i32 0, i32 0)"), Not(HasSubstr("metal.meet"))));
}

TEST(Meetings, ABarrierBehindABranchThatPartsThreadsNeedsTheLoop) {
  const Met met(R"(
      %t = call i32 @cupola.tid.x()
      %odd = trunc i32 %t to i1
      br i1 %odd, label %meet, label %done
    meet:
      call void @cupola.barrier(i32 0, i32 0)
      br label %done
    done:
      ret void)");
  EXPECT_THAT(met.text, kIsALoop);
  EXPECT_EQ(met.saved_bytes, 0u);
}

TEST(Meetings, ABarrierBehindAnEarlyEndNeedsTheLoop) {
  const Met met(R"(
      %t = call i32 @cupola.tid.x()
      %odd = trunc i32 %t to i1
      br i1 %odd, label %leave, label %meet
    leave:
      call void @cupola.exit()
      unreachable
    meet:
      call void @cupola.barrier(i32 0, i32 0)
      ret void)");
  EXPECT_THAT(met.text, AllOf(kIsALoop, HasSubstr("call void @metal.leave_meetings()"), Not(HasSubstr("cupola.exit"))));
}

TEST(Meetings, ThreadsThatPartAwayFromBarriersNeedNoLoop) {
  const Met met(R"(
      call void @cupola.barrier(i32 0, i32 0)
      %t = call i32 @cupola.tid.x()
      %odd = trunc i32 %t to i1
      br i1 %odd, label %some, label %done
    some:
      br label %done
    done:
      ret void)");
  EXPECT_THAT(met.text, Not(HasSubstr("metal.meet")));
}

TEST(Meetings, NumberedBarriersAreCountedInSharedMemory) {
  const Met met(R"(
      call void @cupola.barrier_arrive(i32 1, i32 64)
      call void @cupola.barrier(i32 2, i32 64)
      ret void)");
  EXPECT_THAT(met.text, AllOf(HasSubstr("call void @metal.arrive_at("), HasSubstr("call i64 @metal.meet_at("),
                              Not(HasSubstr("@cupola.barrier"))));
}

TEST(Meetings, AGridWideBarrierKeepsWhatTheThreadNeedsBehindIt) {
  const Met met(R"(
      %t = call i32 @cupola.tid.x()
      %place = alloca [25 x i32]
      store i32 %t, ptr %place
      call void @cupola.grid.sync()
      %kept = load i32, ptr %place
      ret void)");
  EXPECT_THAT(met.text, AllOf(HasSubstr("call void @metal.keep_shared()"), HasSubstr("call i32 @metal.turn()"),
                              Not(HasSubstr("cupola.grid.sync"))));
  EXPECT_GE(met.saved_bytes, 100u);
}

}  // namespace
}  // namespace cupola::metal::build
