// Oracle: which instructions may be approximate, as the functions' attribute says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string with_estimates(const std::string& body, const std::string& words) {
  TestModule module(
      "declare float @__nv_sqrtf(float)\ndeclare float @llvm.sqrt.f32(float)\n"
      "define float @f(float %x, float %y, double %d) #0 {\n" +
      body + "\n ret float %r\n}\nattributes #0 = { \"reciprocal-estimates\"=\"" + words + "\" }\n");
  allow_estimates(*module);
  return module.text();
}

TEST(AllowEstimates, QuotientsOfFloatOnly) {
  EXPECT_THAT(with_estimates("%r = fdiv float %x, %y", "divf"), HasSubstr("fdiv afn float %x, %y"));
  EXPECT_THAT(with_estimates("%r = fdiv contract float %x, %y", "divf,sqrtf"), HasSubstr("fdiv contract afn float"));
  EXPECT_THAT(with_estimates("%r = fdiv float %x, %y", "sqrtf"), HasSubstr("fdiv float"));
  EXPECT_THAT(with_estimates("%e = fdiv double %d, %d\n %r = fptrunc double %e to float", "divf"),
              HasSubstr("fdiv double"));
}

TEST(AllowEstimates, CrudeQuotientsAreThoseOfFdividef) {
  EXPECT_THAT(with_estimates("%r = fdiv float %x, %y", "divf:0"),
              AllOf(HasSubstr("@llvm.nvvm.div.approx.f(float %x, float %y)"), Not(HasSubstr("fdiv"))));
}

TEST(AllowEstimates, RootsByEitherName) {
  EXPECT_THAT(with_estimates("%r = call float @__nv_sqrtf(float %x)", "sqrtf"), HasSubstr("call afn float @llvm.sqrt"));
  EXPECT_THAT(with_estimates("%r = call float @llvm.sqrt.f32(float %x)", "sqrtf"),
              HasSubstr("call afn float @llvm.sqrt"));
  EXPECT_THAT(with_estimates("%r = call float @__nv_sqrtf(float %x)", "divf"), HasSubstr("call float @__nv_sqrtf"));
}

TEST(AllowEstimates, BackEndsDoNotSeeTheWords) {
  EXPECT_THAT(with_estimates("%r = fdiv float %x, %y", "divf"), Not(HasSubstr("reciprocal")));
}

}  // namespace
}  // namespace cupola::kir
