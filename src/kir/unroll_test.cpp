// Oracle: sums by hand; texts by which arrays can be registers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Fills an array of 16 numbers in two nested loops, each turn with what `index` makes of %x, %y and %n, and returns
/// what lies at `asked`. `turns`: of the outer loop.
std::string grid(const std::string& index, const std::string& asked, int turns = 4) {
  return R"(
    @order = private constant [16 x i32] [i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32 9, i32 8,
                                          i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0]
    define i32 @f(i32 %n) {
    entry:
      %array = alloca [16 x i32]
      br label %rows
    rows:
      %y = phi i32 [ 0, %entry ], [ %y.next, %row_end ]
      br label %row
    row:
      %x = phi i32 [ 0, %rows ], [ %x.next, %row ]
      %scaled = mul i32 %x, %n
      %value = add i32 %scaled, %y
      )" +
         index + R"(
      %place = getelementptr inbounds i32, ptr %array, i32 %index
      store i32 %value, ptr %place
      %x.next = add nuw nsw i32 %x, 1
      %x.more = icmp ult i32 %x.next, 4
      br i1 %x.more, label %row, label %row_end
    row_end:
      %y.next = add nuw nsw i32 %y, 1
      %y.more = icmp ult i32 %y.next, )" +
         std::to_string(turns) + R"(
      br i1 %y.more, label %rows, label %end
    end:
      %found = getelementptr inbounds i32, ptr %array, i32 )" +
         asked + R"(
      %result = load i32, ptr %found
      ret i32 %result
    })";
}

const std::string kRowMajor = "%row_place = mul i32 %y, 4\n %index = add i32 %row_place, %x";

/// A loop of `turns` turns that reads as many numbers, with what is said of it.
std::string sums(int turns, const std::string& said, const std::string& more = "") {
  return R"(
    declare void @cupola.barrier(i32, i32) convergent
    define i32 @f(ptr %numbers) {
    entry:
      br label %turn
    turn:
      %i = phi i32 [ 0, %entry ], [ %next, %turn ]
      %sum = phi i32 [ 0, %entry ], [ %sum.next, %turn ]
      )" +
         more + R"(
      %place = getelementptr i32, ptr %numbers, i32 %i
      %number = load i32, ptr %place
      %scaled = mul i32 %sum, 3
      %sum.next = add i32 %scaled, %number
      %next = add i32 %i, 1
      %again = icmp ult i32 %next, )" +
         std::to_string(turns) + R"(
      br i1 %again, label %turn, label %end, !llvm.loop !0
    end:
      ret i32 %sum.next
    }
    !0 = distinct !{!0, !1, !2}
    !1 = !{!"llvm.loop.mustprogress"}
    !2 = !{)" +
         said + "}\n";
}

bool is_unrolled(const std::string& text) {
  TestModule module(text);
  define_guards(*module);
  simplify(*module);
  EXPECT_EQ(module.text().find("mustprogress"), std::string::npos);
  return module.text().find("phi") == std::string::npos;
}

TEST(UnrollLoops, WhatThePragmaAsksForIsUnrolled) {
  EXPECT_TRUE(is_unrolled(sums(20, "!\"llvm.loop.unroll.enable\"")));
  EXPECT_TRUE(is_unrolled(sums(20, "!\"llvm.loop.unroll.full\"")));
  EXPECT_TRUE(is_unrolled(sums(20, "!\"llvm.loop.unroll.count\", i32 20")));
  EXPECT_FALSE(is_unrolled(sums(20, "!\"llvm.loop.unroll.count\", i32 4")));
  EXPECT_FALSE(is_unrolled(sums(20, "!\"llvm.loop.unroll.disable\"")));
  EXPECT_FALSE(is_unrolled(sums(200, "!\"llvm.loop.unroll.enable\"")));  // too many turns
  const std::string reads = "%a = load volatile i32, ptr %numbers\n%b = load volatile i32, ptr %numbers\n";
  EXPECT_TRUE(is_unrolled(sums(60, "!\"llvm.loop.unroll.enable\"", reads)));
  EXPECT_FALSE(is_unrolled(sums(120, "!\"llvm.loop.unroll.enable\"", reads)));  // too many instructions
  EXPECT_FALSE(is_unrolled(sums(20, "!\"llvm.loop.unroll.enable\"", "call void @cupola.barrier(i32 0, i32 0)")));
}

TEST(UnrollLoops, ArraysThatCountersIndexBecomeRegisters) {
  TestModule module(grid(kRowMajor, "6"));
  simplify(*module);
  EXPECT_THAT(module.text(), Not(HasSubstr("alloca")));
  EXPECT_THAT(module.text(), Not(HasSubstr("phi")));
  EXPECT_EQ(module.function<int(int)>("f")(100), 201);  // x 2, y 1
}

const std::string kOfTable =
    "%row_place = mul i32 %y, 4\n %at = add i32 %row_place, %x\n"
    "%entry_of = getelementptr inbounds i32, ptr @order, i32 %at\n"
    "%index = load i32, ptr %entry_of";

TEST(UnrollLoops, IndicesMayComeFromConstantTables) {
  TestModule module(grid(kOfTable, "6"));
  simplify(*module);
  EXPECT_THAT(module.text(), Not(HasSubstr("alloca")));
  EXPECT_EQ(module.function<int(int)>("f")(100), 102);  // place 6 is filled in turn 9: x 1, y 2
}

TEST(UnrollLoops, NothingIsUnrolledForArraysThatStayInMemory) {
  TestModule asked(grid(kRowMajor, "%n"));
  simplify(*asked);
  EXPECT_THAT(asked.text(), HasSubstr("alloca"));
  EXPECT_THAT(asked.text(), HasSubstr("phi"));
  EXPECT_EQ(asked.function<int(int)>("f")(6), 2 * 6 + 1);

  TestModule filled(grid("%mixed = xor i32 %x, %n\n %index = and i32 %mixed, 15", "6"));
  simplify(*filled);
  EXPECT_THAT(filled.text(), HasSubstr("alloca"));
  EXPECT_THAT(filled.text(), HasSubstr("phi"));

  std::string changes = grid(kOfTable, "6");
  changes.replace(changes.find("private constant"), 16, "global");
  TestModule of_variables(changes);
  simplify(*of_variables);
  EXPECT_THAT(of_variables.text(), HasSubstr("alloca"));
  EXPECT_THAT(of_variables.text(), HasSubstr("phi"));

  TestModule escapes("@seen = global ptr null\n" + grid(kRowMajor + "\n store ptr %array, ptr @seen", "6"));
  simplify(*escapes);
  EXPECT_THAT(escapes.text(), HasSubstr("alloca"));
  EXPECT_THAT(escapes.text(), HasSubstr("phi"));
}

TEST(UnrollLoops, LoopsThatWouldGrowTheFunctionTooMuchStay) {
  TestModule module(grid("%many = mul i32 %y, 4\n %all = add i32 %many, %x\n %index = and i32 %all, 15", "6", 120));
  simplify(*module);
  EXPECT_THAT(module.text(), HasSubstr("alloca"));
  EXPECT_EQ(module.function<int(int)>("f")(1000), 2000 + 117);
}

TEST(UnrollLoops, LoopsOfManyTurnsStay) {
  const auto has_array = [](int turns) {
    TestModule module(R"(
      define i32 @f(i32 %n) {
      entry:
        %array = alloca [256 x i32]
        br label %turn
      turn:
        %i = phi i32 [ 0, %entry ], [ %next, %turn ]
        %value = mul i32 %i, %n
        %place = getelementptr inbounds i32, ptr %array, i32 %i
        store i32 %value, ptr %place
        %next = add nuw nsw i32 %i, 1
        %more = icmp ult i32 %next, )" +
                      std::to_string(turns) + R"(
        br i1 %more, label %turn, label %end
      end:
        %found = getelementptr inbounds i32, ptr %array, i32 6
        %result = load i32, ptr %found
        ret i32 %result
      })");
    simplify(*module);
    const std::string text = module.text();
    EXPECT_EQ(module.function<int(int)>("f")(100), 600);
    return text.contains("alloca");
  };
  EXPECT_FALSE(has_array(128));
  EXPECT_TRUE(has_array(129));
}

}  // namespace
}  // namespace cupola::kir
