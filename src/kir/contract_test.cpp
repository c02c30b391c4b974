// Oracle: the host's std::fma, and plain arithmetic of the host where nothing may be fused. Operands are such that one
// rounding and two differ.

#include <gtest/gtest.h>

#include <cmath>

#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

constexpr float kA = 1 + 0x1p-12f, kB = 1 - 0x1p-13f, kC = -1, kD = 3 + 0x1p-20f;

float run(const std::string& body) {
  TestModule module("define float @f(float %a, float %b, float %c, float %d) {\n" + body + "\n ret float %r }");
  contract(*module);
  return module.function<float(float, float, float, float)>("f")(kA, kB, kC, kD);
}

TEST(ContractValues, SumsAndDifferencesOfAProduct) {
  EXPECT_NE(std::fma(kA, kB, kC), kA * kB + kC);
  EXPECT_EQ(run("%m = fmul contract float %a, %b\n%r = fadd contract float %m, %c"), std::fma(kA, kB, kC));
  EXPECT_EQ(run("%m = fmul contract float %a, %b\n%r = fadd contract float %c, %m"), std::fma(kA, kB, kC));
  EXPECT_EQ(run("%m = fmul contract float %a, %b\n%n = fneg float %c\n%r = fsub contract float %m, %n"),
            std::fma(kA, kB, kC));
  EXPECT_EQ(run("%m = fmul contract float %a, %b\n%r = fsub contract float %d, %m"), std::fma(-kA, kB, kD));
}

TEST(ContractValues, NothingIsFusedUnlessBothAllowIt) {
  const volatile float product = kA * kB;  // rounded: the host's compiler must not fuse either
  EXPECT_EQ(run("%m = fmul float %a, %b\n%r = fadd contract float %m, %c"), product + kC);
  EXPECT_EQ(run("%m = fmul contract float %a, %b\n%r = fadd float %m, %c"), product + kC);
}

TEST(ContractValues, OfTwoProductsTheFirstIsFused) {
  const volatile float second = kD * kD;
  EXPECT_EQ(run("%m = fmul contract float %a, %b\n%n = fmul contract float %d, %d\n%r = fadd contract float %m, %n"),
            std::fma(kA, kB, second));
}

TEST(ContractValues, AProductThatIsUsedOtherwiseStays) {
  const volatile float product = kA * kB, sum = product + kC;
  EXPECT_EQ(run("%m = fmul contract float %a, %b\n%s = fadd contract float %m, %c\n%r = fdiv float %s, %m"),
            sum / product);
}

}  // namespace
}  // namespace cupola::kir
