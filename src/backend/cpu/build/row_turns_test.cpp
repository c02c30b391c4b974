#include "backend/cpu/build/row_turns.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>

#include <regex>

#include "backend/cpu/build/test_program.h"
#include "kir/intrinsics.h"

// Where blocks meet between rows. That they compute what they did VectorDifferential shows.

namespace cupola::cpu::build::testing {
namespace {

/// How many more barriers the code has when its blocks meet between rows.
size_t met(const std::string& text, const Dim3& shape = {256}) {
  llvm::LLVMContext context;
  const auto module = parse(context, text);
  llvm::Function& function = *module->getFunction("k");
  const auto barriers = [&] {
    return llvm::count_if(llvm::instructions(function), [](const llvm::Instruction& instruction) {
      return kir::intrinsic_of(instruction) == kir::Intrinsic::Barrier;
    });
  };
  const auto before = barriers();
  const bool changed = meet_between_rows(function, kir::CallReach(*module), shape);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  EXPECT_EQ(changed, barriers() != before);
  return static_cast<size_t>(barriers() - before);
}

/// With %t, a thread's number, and the barrier at %meet.
std::string kernel(const std::string& body, const std::string& meet = "call void @cupola.barrier(i32 0, i32 0)") {
  return R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare void @cupola.barrier(i32, i32)
    declare void @cupola.barrier_arrive(i32, i32)
    declare void @other()
    define void @k(ptr %p, ptr %q, i32 %n, i1 %some) {
    start:
      %t = call i32 @cupola.tid.x()
      %block = call i32 @cupola.ctaid.x()
      %wide = zext i32 %t to i64
      %mine = getelementptr float, ptr %p, i64 %wide
      )" +
         body + R"(
      br label %meet
    meet:
      )" +
         meet +
         R"(
      ret void
    })";
}

struct Loop {
  std::string before = "", first = "%t", end = "%n", test = "slt i32 %i, %end", at = "%i", turn = "", step = "256",
              behind = "", value = "%a";
};

/// A loop that sums what it reads at %p.
std::string loop(const Loop& loop) {
  return loop.before + R"(
      %first = add i32 )" +
         loop.first + R"(, 0
      %end = add i32 )" +
         loop.end + R"(, 0
      br label %head
    head:
      %i = phi i32 [ %first, %before ], [ %next, %body ]
      %sum = phi float [ 0.0, %before ], [ %more, %body ]
      %on = icmp )" +
         loop.test + R"(
      br i1 %on, label %body, label %out
    body:
      %index = sext i32 )" +
         loop.at + R"( to i64
      %place = getelementptr float, ptr %p, i64 %index
      %a = load float, ptr %place
      )" +
         loop.turn +
         R"(
      %more = fadd float %sum, )" +
         loop.value + R"(
      %next = add i32 %i, )" +
         loop.step + R"(
      br label %head
    out:
      store float %sum, ptr %q
      )" +
         loop.behind;
}
std::string at_top(Loop one = {}) {
  one.before = "br label %before\n    before:\n" + one.before;
  return kernel(loop(one));
}

TEST(RowTurns, BlocksMeetInALoopThatGoesThroughARow) {
  EXPECT_EQ(met(at_top()), 1u);
  EXPECT_EQ(met(at_top({.test = "sge i32 %end, %i", .step = "256"})), 1u);
  EXPECT_EQ(met(at_top({.test = "ult i32 %i, %end"})), 1u);
}

TEST(RowTurns, TheyMayBeginAndEndWhereTheBlockDoes) {
  EXPECT_EQ(met(at_top({.before = "%base = mul i32 %block, 1000\n %f = add i32 %t, %base\n %e = add i32 %base, %n\n",
                        .first = "%f",
                        .end = "%e"})),
            1u);
}

TEST(RowTurns, BlocksDoNotMeetWhereThreadsCountInTheirOwnWay) {
  EXPECT_EQ(met(at_top({.step = "128"})), 0u) << "rows overlap";
  EXPECT_EQ(met(at_top({.step = "1024"})), 0u) << "far";
  EXPECT_EQ(met(at_top({.before = "%l = load i32, ptr %q\n", .end = "%l"})), 0u) << "an end that differs, maybe";
  EXPECT_EQ(met(at_top({.before = "%e = add i32 %n, %t\n", .end = "%e"})), 0u) << "an end that differs";
  EXPECT_EQ(met(at_top({.before = "%l = load i32, ptr %q\n %f = add i32 %l, %t\n", .first = "%f"})), 0u);
  EXPECT_EQ(met(at_top({.before = "%odd = trunc i32 %t to i1\n %s = select i1 %odd, i32 0, i32 %n\n"
                                  "%f = add i32 %s, %t\n",
                        .first = "%f"})),
            0u)
      << "two ways to begin";
  EXPECT_EQ(met(at_top({.before = "%narrow = trunc i32 %t to i8\n %f = zext i8 %narrow to i32\n", .first = "%f"})), 0u);
  EXPECT_EQ(met(at_top({.test = "ne i32 %i, %end"})), 0u);
  EXPECT_EQ(met(at_top({.behind = "store i32 %i, ptr %q\n"})), 0u) << "asked for behind the loop";
  EXPECT_EQ(met(at_top({.at = "%t"})), 0u) << "no row";
  EXPECT_EQ(met(at_top({.turn = "atomicrmw add ptr %q, i32 1 monotonic, !cupola.shared_atomic !0\n"}) + "\n!0 = !{}"),
            0u)
      << "keeps a sum, and lanes take turns of their own";
}

/// Reads at `first` and at `second`.
std::string pieces(const std::string& first, const std::string& second, const std::string& between = "") {
  return "%a = load float, ptr " + first + "\n" + between + "%b = load float, ptr " + second +
         "\n %c = fadd float %a, %b\n store float %c, ptr %q\n";
}
constexpr const char* kNext = "%next = getelementptr i8, ptr %mine, i64 1024\n";

/// Counts %m up in steps of 256, each thread for as long as it reads anything but 0.
const std::string kCountsForItself = R"(br label %count
    count:
      %m = phi i32 [ 0, %start ], [ %m.next, %count ]
      %m.place = getelementptr i32, ptr %q, i32 %t
      %flag = load i32, ptr %m.place
      %m.next = add i32 %m, 256
      %m.on = icmp ne i32 %flag, 0
      br i1 %m.on, label %count, label %before
    before:
)";

TEST(RowTurns, BlocksDoNotMeetWhereThreadsHaveTurnsOfTheirOwn) {
  EXPECT_EQ(met(kernel(loop({.before = kCountsForItself, .end = "%m"}))), 0u);
  EXPECT_EQ(met(kernel(loop({.before = kCountsForItself + "%f = add i32 %m, %t\n", .first = "%f"}))), 0u);
  EXPECT_EQ(met(kernel(loop({.before = kCountsForItself}))), 1u) << "by itself it may";
}

/// With what of the loop's first block is asked for behind it, as out of `next` and %i.
std::string with_more_in_header(const std::string& more, const std::string& behind) {
  std::string text = at_top({.behind = behind});
  return text.insert(text.find("%on = icmp"), more + "\n");
}

/// A loop that updates memory at %p + 0.
std::string updating(const std::string& update, const std::string& carried = "", const std::string& at = "%i",
                     const std::string& step = "256") {
  return kernel(R"(
      br label %before
    before:
      br label %head
    head:
      %i = phi i32 [ %t, %before ], [ %next, %body ]
      )" + carried +
                R"(
      %on = icmp slt i32 %i, %n
      br i1 %on, label %body, label %out
    body:
      %index = sext i32 )" +
                at + R"( to i64
      %place = getelementptr i32, ptr %q, i64 %index
      %a = load i32, ptr %place
      )" + update +
                R"(
      %next = add i32 %i, )" +
                step + R"(
      br label %head
    out:)") +
         "\n!0 = !{}";
}

TEST(RowTurns, BlocksMeetAfterEachTurnOfAllThreadsThatUpdatesSharedMemory) {
  const std::string shared = "atomicrmw add ptr %p, i32 %a monotonic, !cupola.shared_atomic !0\n",
                    other = "atomicrmw add ptr %p, i32 %a monotonic\n";
  EXPECT_EQ(met(updating(shared)), 1u);
  EXPECT_EQ(met(updating(shared + shared)), 1u);
  EXPECT_EQ(met(updating(other)), 0u) << "beside an update that others see what it reads takes no time";
  EXPECT_EQ(met(updating(shared + other)), 0u);
  EXPECT_EQ(met(updating(shared, "%sum = phi i32 [ 0, %before ], [ %a, %body ]\n")), 0u) << "kept from turn to turn";
  EXPECT_EQ(met(updating(shared, "", "%t")), 0u) << "no row";
  EXPECT_EQ(met(updating(shared, "%both = add i32 %i, %t\n", "%both", "512")), 0u) << "counters of no row";
}

TEST(RowTurns, WhatIsMadeOfTheCounterIsNotAskedForAfterwards) {
  const std::string more = "%far = sext i32 %i to i64";
  EXPECT_EQ(met(with_more_in_header(more, "")), 1u);
  EXPECT_EQ(met(with_more_in_header(more, "store i64 %far, ptr %q\n")), 0u);
  EXPECT_EQ(met(with_more_in_header("%odd = udiv i32 7, %i", "")), 0u) << "by 0, where a thread has no turn";
}

TEST(RowTurns, TheBlockBehindTheLoopMayHavePhis) {
  EXPECT_EQ(met(at_top({.behind = "%twice = fadd float %sum, %sum\n store float %twice, ptr %q\n"})), 1u);
  std::string text = at_top();
  text.replace(text.find("store float %sum"), 16, "%last = phi float [ %sum, %head ]\n store float %last");
  EXPECT_EQ(met(text), 1u);
}

// Its threads do not wait for the others any more: more would have them wait.
TEST(RowTurns, BlocksDoNotMeetBehindTheirLastBarrier) {
  const std::string barrier = "call void @cupola.barrier(i32 0, i32 0)\n";
  EXPECT_EQ(met(kernel(barrier + "br label %before\n before:\n" + loop({}), "")), 0u);
  EXPECT_EQ(met(kernel(barrier + kNext + pieces("%mine", "%next"), "")), 0u);
  EXPECT_EQ(met(kernel(barrier + kNext + pieces("%mine", "%next"), barrier)), 1u);
}

// In PTX warps may come to barriers at places of their own.
TEST(RowTurns, BlocksDoNotMeetWhereWarpsComeToBarriersApart) {
  const auto under = [](const std::string& condition) {
    return kernel("%few = icmp ult i32 " + condition +
                  ", 128\n br i1 %few, label %some.meet, label %on\n some.meet:\n"
                  "call void @cupola.barrier(i32 0, i32 0)\n br label %on\n on:\n" +
                  kNext + pieces("%mine", "%next"));
  };
  EXPECT_EQ(met(under("%t")), 0u);
  EXPECT_EQ(met(under("%n")), 1u);
  EXPECT_EQ(met(under("%block")), 1u);
  EXPECT_EQ(met(kernel("%l = load i32, ptr %q\n %few = icmp ult i32 %l, 128\n"
                       "br i1 %few, label %some.meet, label %on\n some.meet:\n"
                       "call void @cupola.barrier(i32 0, i32 0)\n br label %on\n on:\n" +
                       std::string(kNext) + pieces("%mine", "%next"))),
            0u);
}

TEST(RowTurns, BlocksDoNotMeetWhereSomeThreadsDoNotCome) {
  EXPECT_EQ(met(kernel("br i1 %some, label %before, label %meet\n before:\n" + loop({}))), 0u);
  EXPECT_EQ(met(at_top(), {32}), 0u) << "one warp";
  EXPECT_EQ(met(at_top(), {256, 2}), 0u);
  EXPECT_EQ(met(kernel("br label %outer\n outer:\n br label %before\n before:\n" +
                       loop({.behind = "br i1 %some, label %outer, label %done\n done:\n"}))),
            0u)
      << "in a loop";
}

TEST(RowTurns, BlocksDoNotMeetWhereThreadsWaitInOtherWays) {
  const std::string row = "br label %before\n before:\n" + loop({});
  EXPECT_EQ(met(kernel(row, "")), 0u) << "never";
  EXPECT_EQ(met(kernel(row, "call void @cupola.barrier(i32 1, i32 64)")), 0u);
  EXPECT_EQ(
      met(kernel(row, "call void @cupola.barrier(i32 0, i32 0)\n call void @cupola.barrier_arrive(i32 1, i32 64)")),
      0u);
  EXPECT_EQ(met(kernel(row, "call void @cupola.barrier(i32 0, i32 0)\n call void @other()")), 0u);
  EXPECT_EQ(met(kernel("br label %spin\n spin:\n %v = load volatile i32, ptr %q\n %z = icmp eq i32 %v, 0\n"
                       "br i1 %z, label %spin, label %before\n before:\n" +
                       loop({}))),
            0u);
  EXPECT_EQ(met(at_top({.turn = "%old = atomicrmw add ptr %q, i32 1 monotonic\n"})), 0u);
}

TEST(RowTurns, BlocksDoNotMeetWhereRowsAreGoneThroughAgain) {
  std::string again = std::regex_replace(
      loop({}), std::regex("%(first|end|i|sum|on|index|place|a|more|next|before|head|body|out)\\b"), "%x$1");
  again = std::regex_replace(again, std::regex("(head|body|out):"), "x$1:");
  EXPECT_EQ(met(kernel("br label %before\n before:\n" + loop({}) + "br label %xbefore\n xbefore:\n" + again)), 0u);
}

TEST(RowTurns, BlocksMeetBeforeTheyReadTheNextRow) {
  EXPECT_EQ(met(kernel(kNext + pieces("%mine", "%next"))), 1u);
  EXPECT_EQ(met(kernel(kNext + pieces("%next", "%mine"))), 1u);
  EXPECT_EQ(met(kernel(std::string(kNext) + "%third = getelementptr i8, ptr %mine, i64 2048\n" +
                       pieces("%mine", "%next") + "%d = load float, ptr %third\n store float %d, ptr %p\n")),
            2u);
  EXPECT_EQ(met(kernel(kNext + pieces("%mine", "%next", "br i1 %some, label %read, label %meet\n read:\n"))), 1u)
      << "before the branch";
}

TEST(RowTurns, BlocksDoNotMeetWhereTheyHaveOrReadOneRow) {
  EXPECT_EQ(met(kernel(kNext + pieces("%mine", "%next", "call void @cupola.barrier(i32 0, i32 0)\n"))), 0u);
  EXPECT_EQ(met(kernel("%next = getelementptr i8, ptr %mine, i64 4\n" + pieces("%mine", "%next"))), 0u);
  EXPECT_EQ(met(kernel("%next = getelementptr i8, ptr %mine, i64 8192\n" + pieces("%mine", "%next"))), 0u) << "far";
  EXPECT_EQ(met(kernel("%other = getelementptr float, ptr %q, i64 %wide\n" + pieces("%mine", "%other"))), 0u);
  EXPECT_EQ(
      met(kernel("br i1 %some, label %read, label %meet\n read:\n" + std::string(kNext) + pieces("%mine", "%next"))),
      0u)
      << "both under the branch";
  EXPECT_EQ(met(kernel(std::string(kNext) + "br label %turn\n turn:\n" + pieces("%mine", "%next") +
                       "br i1 %some, label %turn, label %done\n done:\n")),
            0u)
      << "in a loop";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
