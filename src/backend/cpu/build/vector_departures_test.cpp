#include "backend/cpu/build/vector_departures.h"

#include "backend/cpu/build/analysed_kernel.h"

// Oracle: the PTX ISA's "bar.warp.sync" and the CUDA programming guide, by which an operation waits for those of its
// members that have not exited.

namespace cupola::cpu::build::testing {
namespace {

/// A vote of all lanes.
std::string vote(const std::string& name) {
  return "%" + name + " = call i32 @cupola.vote(i32 -1, i32 3, i32 1)\n";
}

bool may_miss(const AnalysedKernel& kernel, const std::string& vote) {
  const auto& call = llvm::cast<llvm::CallInst>(*kernel.value(vote));
  EXPECT_TRUE(kernel.is_masked(call.getParent()->getName().str()));
  return kernel.departures().may_miss_members(call);
}

/// Some lanes come to `operation` on their way, and all to `tail`.
std::string branch(const std::string& tail, const std::string& operation = vote("v")) {
  return by_lane(R"(
      %c = icmp uge i32 %l, %n
      br i1 %c, label %some, label %join
    some:
      )" + operation +
                 R"(
      br label %join
    join:
      store i32 1, ptr %p
      br label %tail
    tail:
      )" + tail +
                 R"(
      br label %end
    end:
      ret void
    )");
}

TEST(VectorDepartures, LanesDepartWhereNoMeetingIsAhead) {
  const AnalysedKernel kernel(branch(""));
  const Departures departures = kernel.departures();
  const llvm::BasicBlock *some = kernel.block("some"), *join = kernel.block("join");
  EXPECT_FALSE(departures.are_final(some));
  EXPECT_TRUE(departures.are_final(join));
  EXPECT_TRUE(departures.is_departure(some, join));
  EXPECT_FALSE(departures.is_departure(join, kernel.block("tail"))) << "they have departed before";
}

// Both returns are one, which comes behind the second vote; lanes that return there go on by no way.
TEST(VectorDepartures, WhoReturnsBesideOthersMeetsNobodyBehind) {
  AnalysedKernel kernel(by_lane(R"(
      %mine = getelementptr i32, ptr %p, i32 %l
      %first = icmp uge i32 %l, %n
      br i1 %first, label %gone, label %next
    next:
      )" + vote("v") + R"(
      %value = load i32, ptr %mine
      %second = icmp eq i32 %value, 0
      br i1 %second, label %gone, label %stays
    stays:
      )" + vote("w") + R"(
      store i32 %w, ptr %mine
      br label %end
    gone:
      store i32 7, ptr %mine
      br label %end
    end:
      ret void
    )"));
  kernel.separate();
  EXPECT_TRUE(kernel.departures().are_final(kernel.block("gone")));
  for (const char* name : {"v", "w"})
    EXPECT_FALSE(kernel.departures().may_miss_members(llvm::cast<llvm::CallInst>(*kernel.value(name)))) << name;
}

TEST(VectorDepartures, WhoWentPastABranchMayMeetBehindIt) {
  const auto may_miss_with = [](const std::string& tail) { return may_miss(AnalysedKernel(branch(tail)), "v"); };
  EXPECT_FALSE(may_miss_with(""));
  EXPECT_TRUE(may_miss_with(vote("w")));
  EXPECT_TRUE(may_miss_with("call void @cupola.warp_sync(i32 -1)"));
  EXPECT_TRUE(may_miss_with("call void @cupola.barrier(i32 0, i32 0)"));
}

TEST(VectorDepartures, AMatrixIsOfAllLanes) {
  const auto may_miss_with = [](const std::string& tail) {
    const AnalysedKernel kernel(branch(tail, "%v = call ptr @cupola.warp_publish(ptr %p, i32 1)"));
    EXPECT_EQ(kernel.obstacle(), "");
    return may_miss(kernel, "v");
  };
  EXPECT_FALSE(may_miss_with(""));
  EXPECT_TRUE(may_miss_with("call void @cupola.warp_sync(i32 -1)"));
}

TEST(VectorDepartures, WhoMeetsThoseThatAreThereIsOnTheWayOut) {
  const std::string active = "%a = call i32 @cupola.active_mask()\n";
  const auto may_miss_with = [](const std::string& tail) { return may_miss(AnalysedKernel(branch(tail)), "v"); };
  EXPECT_FALSE(may_miss_with(active));
  EXPECT_FALSE(may_miss_with(active + "call void @cupola.warp_sync(i32 %a)"));
  EXPECT_TRUE(may_miss_with(active + "%b = or i32 %a, %n\ncall void @cupola.warp_sync(i32 %b)"));
}

TEST(VectorDepartures, MembersThatAreThereAreNotMissed) {
  const AnalysedKernel kernel(by_lane(R"(
      %before = call i32 @cupola.active_mask()
      %c = icmp uge i32 %l, %n
      br i1 %c, label %some, label %join
    some:
      %a = call i32 @cupola.active_mask()
      %v = call i32 @cupola.vote(i32 %a, i32 3, i32 1)
      %w = call i32 @cupola.vote(i32 %before, i32 3, i32 1)
      br label %join
    join:
      call void @cupola.warp_sync(i32 -1)
      br label %end
    end:
      ret void
    )"));
  EXPECT_FALSE(may_miss(kernel, "v"));
  EXPECT_TRUE(may_miss(kernel, "w"));
}

/// A loop that lanes leave one by one, at its begin and at its end, for `tail`; in each turn they may skip %some.
bool may_miss_in_loop(const std::string& which, const std::vector<std::string>& votes, const std::string& tail = "") {
  const auto at = [&](const std::string& name) { return llvm::is_contained(votes, name) ? vote(name) : ""; };
  return may_miss(AnalysedKernel(by_lane(R"(
      br label %header
    header:
      %i = phi i32 [ 0, %0 ], [ %next, %latch ]
      )" + at("first") + R"(
      %is_first = icmp eq i32 %l, %i
      br i1 %is_first, label %tail, label %turn
    turn:
      %c = icmp ult i32 %l, %n
      br i1 %c, label %some, label %latch
    some:
      )" + at("skipped") + R"(
      br label %latch
    latch:
      )" + at("last") + R"(
      %next = add i32 %i, 1
      %is_last = icmp ult i32 %l, %next
      br i1 %is_last, label %tail, label %header
    tail:
      store i32 1, ptr %p
      )" + tail + R"(
      br label %end
    end:
      ret void
    )")),
                  which);
}

TEST(VectorDepartures, WhoLeftALoopAtAnyTurnMayMeetBehindIt) {
  for (const std::string where : {"first", "last"}) {
    EXPECT_FALSE(may_miss_in_loop(where, {where})) << where;
    EXPECT_TRUE(may_miss_in_loop(where, {where}, "call void @cupola.warp_sync(i32 -1)")) << where;
  }
}

TEST(VectorDepartures, WhoSkipsAPlaceInALoopMayComeToItInTheNextTurn) {
  EXPECT_TRUE(may_miss_in_loop("skipped", {"skipped"}));
  EXPECT_FALSE(may_miss_in_loop("first", {"first", "skipped", "last"})) << "all that are left come by";
  EXPECT_FALSE(may_miss_in_loop("last", {"first", "skipped", "last"})) << "all that are left come by";
}

TEST(VectorDepartures, WhoLeftAnInnerLoopMayComeToItAgain) {
  EXPECT_TRUE(may_miss(AnalysedKernel(lanes_turn_twice(vote("v"))), "v"));
  EXPECT_FALSE(may_miss(AnalysedKernel(lanes_turn_twice("", vote("v"))), "v")) << "all of a turn have left it";
}

TEST(VectorDepartures, AnEarlyReturnIsNoPlaceToMeet) {
  AnalysedKernel kernel(by_lane(R"(
      %gone = icmp uge i32 %l, %n
      br i1 %gone, label %end, label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %loop ]
      )" + vote("v") + R"(
      %next = add i32 %i, 1
      %over = icmp ugt i32 %next, %l
      br i1 %over, label %tail, label %loop
    tail:
      store i32 1, ptr %p
      br label %end
    end:
      ret void
    )"));
  EXPECT_EQ(kernel.separate().size(), 1u);
  EXPECT_FALSE(may_miss(kernel, "v"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
