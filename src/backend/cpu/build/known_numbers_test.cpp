#include "backend/cpu/build/known_numbers.h"

#include <gmock/gmock.h>

#include "kir/pass_analyses.h"
#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// @f after the pass, with `code` for what it does: %row is four numbers of %q, %second is the address of the second
/// number of %p, and %r the row it writes.
std::string after(const std::string& code) {
  kir::TestModule module(R"(
    define void @f(ptr noalias %p, ptr noalias %q, ptr noalias %result) {
      %second = getelementptr i8, ptr %p, i64 4
      %row = load <4 x i32>, ptr %q, align 16
      )" + code + R"(
      store <4 x i32> %r, ptr %result, align 16
      ret void
    })");
  kir::PassAnalyses analyses;
  TakeKnownNumbers().run(*module->getFunction("f"), analyses.functions);
  return module.text();
}

const std::string kSplat = R"(
      %number = load i32, ptr %second, align 4
      %first = insertelement <4 x i32> poison, i32 %number, i64 0
      %r = shufflevector <4 x i32> %first, <4 x i32> poison, <4 x i32> zeroinitializer
      )";

TEST(KnownNumbers, ReadWhatAllLanesTakeOfARow) {
  const std::string text = after("store <4 x i32> %row, ptr %p, align 16\n" + kSplat);
  EXPECT_THAT(text, HasSubstr("load i32, ptr %second"));
  EXPECT_THAT(text, Not(HasSubstr("atomic")));
}

TEST(KnownNumbers, TakeOtherNumbersOfARow) {
  EXPECT_THAT(after("store <4 x i32> %row, ptr %p, align 16\n"
                    "%number = load i32, ptr %second, align 4\n"
                    "%r = insertelement <4 x i32> %row, i32 %number, i64 0\n"),
              Not(HasSubstr("load i32, ptr %second")))
      << "it goes to one lane";
}

TEST(KnownNumbers, TakeANumberThatWasStoredAsOne) {
  const std::string text = after("store i32 7, ptr %second, align 4\n" + kSplat);
  EXPECT_THAT(text, Not(HasSubstr("load i32, ptr %second")));
  EXPECT_THAT(text, Not(HasSubstr("atomic")));
}

TEST(KnownNumbers, ReadOnceWhatSeveralRowsAreMadeOf) {
  EXPECT_THAT(after("store <4 x i32> %row, ptr %p, align 16\n"
                    "%before = load i32, ptr %second, align 4\n"
                    "%other = insertelement <4 x i32> poison, i32 %before, i64 0\n"
                    "store <4 x i32> %other, ptr %q, align 16\n" +
                    kSplat),
              Not(HasSubstr("%number = load")));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
