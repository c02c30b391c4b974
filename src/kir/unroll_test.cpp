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

TEST(UnrollLocalArrays, ArraysThatCountersIndexBecomeRegisters) {
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

TEST(UnrollLocalArrays, IndicesMayComeFromConstantTables) {
  TestModule module(grid(kOfTable, "6"));
  simplify(*module);
  EXPECT_THAT(module.text(), Not(HasSubstr("alloca")));
  EXPECT_EQ(module.function<int(int)>("f")(100), 102);  // place 6 is filled in turn 9: x 1, y 2
}

TEST(UnrollLocalArrays, NothingIsUnrolledForArraysThatStayInMemory) {
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

TEST(UnrollLocalArrays, LoopsThatWouldGrowTheFunctionTooMuchStay) {
  TestModule module(grid("%many = mul i32 %y, 4\n %all = add i32 %many, %x\n %index = and i32 %all, 15", "6", 120));
  simplify(*module);
  EXPECT_THAT(module.text(), HasSubstr("alloca"));
  EXPECT_EQ(module.function<int(int)>("f")(1000), 2000 + 117);
}

TEST(UnrollLocalArrays, LoopsOfManyTurnsStay) {
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
