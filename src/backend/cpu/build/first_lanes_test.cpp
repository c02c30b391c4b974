#include "backend/cpu/build/first_lanes.h"

#include <gmock/gmock.h>

#include <array>

#include "kir/pass_analyses.h"
#include "kir/test_module.h"

// Oracle: what LLVM's language reference says of masked accesses, and of numbers made of vectors.

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <typename Pass>
void run(kir::TestModule& module) {
  kir::PassAnalyses analyses;
  Pass().run(*module->getFunction("f"), analyses.functions);
}

/// Reads four numbers at %p by the mask, in place of 9s, adds one to each and writes them to %q by the mask.
std::string masked(const std::string& mask, const std::string& others = "splat (i32 9)") {
  return R"(
  declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, <4 x i1>, <4 x i32>)
  declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, <4 x i1>)
  define void @f(ptr %p, ptr %q, ptr %r) {
    %row = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr align 4 %p, <4 x i1> )" +
         mask + ", <4 x i32> " + others + R"()
    %more = add <4 x i32> %row, splat (i32 1)
    call void @llvm.masked.store.v4i32.p0(<4 x i32> %more, ptr align 4 %q, <4 x i1> )" +
         mask + R"()
    store <4 x i32> %row, ptr %r, align 4
    ret void
  })";
}

TEST(FirstLanes, OfAKnownMaskAreAPlainRow) {
  kir::TestModule module(masked("<i1 true, i1 true, i1 false, i1 false>"));
  run<ShortenRows>(module);
  EXPECT_THAT(module.text(), Not(HasSubstr("call <")));
  EXPECT_THAT(module.text(), Not(HasSubstr("call void")));
  EXPECT_THAT(module.text(), HasSubstr("load <2 x i32>, ptr %p, align 4"));
  auto* f = module.function<void(const int*, int*, int*)>("f");
  const std::array<int, 2> from = {1, 2};  // what lies behind is not read
  std::array<int, 4> to = {}, row = {};
  f(from.data(), to.data(), row.data());
  EXPECT_EQ(to, (std::array{2, 3, 0, 0}));
  EXPECT_EQ(row, (std::array{1, 2, 9, 9}));
}

TEST(FirstLanes, HaveNothingBehindThemWhereNothingIsAskedFor) {
  kir::TestModule module(masked("<i1 true, i1 true, i1 false, i1 false>", "poison"));
  run<ShortenRows>(module);
  EXPECT_THAT(module.text(), Not(HasSubstr("splat (i32 9)")));
  kir::TestModule undefined(masked("<i1 true, i1 true, i1 false, i1 false>", "undef"));
  run<ShortenRows>(undefined);
  EXPECT_THAT(undefined.text(), HasSubstr("<4 x i32> undef")) << "some number, the same for all who ask";
}

TEST(FirstLanes, OfOtherMasksStayMasked) {
  for (const char* mask : {"<i1 false, i1 true, i1 false, i1 false>", "<i1 true, i1 true, i1 false, i1 true>",
                           "<i1 true, i1 true, i1 true, i1 false>", "<i1 true, i1 false, i1 false, i1 false>",
                           "<i1 true, i1 true, i1 poison, i1 false>", "zeroinitializer"}) {
    kir::TestModule module(masked(mask));
    run<ShortenRows>(module);
    EXPECT_THAT(module.text(), HasSubstr("call <4 x i32>")) << mask;
    EXPECT_THAT(module.text(), HasSubstr("call void")) << mask;
  }
}

/// The two numbers from bit `begin` of the four of %row on.
std::string taken(const std::string& begin) {
  return R"(
  define <2 x i32> @f(<4 x i32> %row) {
    %all = bitcast <4 x i32> %row to i128
    %later = lshr i128 %all, )" +
         begin + R"(
    %few = trunc i128 %later to i64
    %two = bitcast i64 %few to <2 x i32>
    ret <2 x i32> %two
  })";
}

TEST(FirstLanes, ANumberOfARowIsItsLanes) {
  kir::TestModule module(taken("32"));
  run<TakeRowsOfRows>(module);
  EXPECT_THAT(module.text(), HasSubstr("shufflevector <4 x i32> %row, <4 x i32> poison, <2 x i32> <i32 1, i32 2>"));
  EXPECT_THAT(module.text(), Not(HasSubstr("i128")));
}

TEST(FirstLanes, ANumberBetweenLanesOrBehindThemIsNot) {
  for (const char* begin : {"16", "96", "%begin"}) {
    std::string text = taken(begin);
    if (begin[0] == '%') text.replace(text.find("(<4 x i32> %row)"), 16, "(<4 x i32> %row, i128 %begin)");
    kir::TestModule module(text);
    run<TakeRowsOfRows>(module);
    EXPECT_THAT(module.text(), HasSubstr("lshr i128")) << begin;
  }
}

TEST(FirstLanes, ANumberOfAnotherTypeIsNot) {
  kir::TestModule module(R"(
  define <4 x i16> @f(<4 x i32> %row) {
    %all = bitcast <4 x i32> %row to i128
    %few = trunc i128 %all to i64
    %four = bitcast i64 %few to <4 x i16>
    ret <4 x i16> %four
  })");
  run<TakeRowsOfRows>(module);
  EXPECT_THAT(module.text(), HasSubstr("trunc i128"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
