// Oracle: the PTX ISA's ".ftz": f32 operands and results that are denormal are zeros of their sign; other types, moves,
// negations and copies of a sign are as they were.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "kir/kir.h"
#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

constexpr char kFlushes[] = " #0 {\n",
               kAttributes[] = "\nattributes #0 = { \"denormal-fp-math-f32\"=\"preserve-sign\" }";
constexpr float kTiny = 0x1p-127f, kLeast = 0x1p-126f;

template <typename R, typename... Args>
R run(const std::string& head, const std::string& body, Args... args) {
  TestModule module(
      "declare float @llvm.fma.f32(float, float, float)\ndeclare float @llvm.fabs.f32(float)\n"
      "declare float @llvm.minimumnum.f32(float, float)\n"
      "define " +
      head + kFlushes + body + "\n}" + kAttributes);
  flush_denormals(*module);
  EXPECT_TRUE(flushes_denormals(*module->getFunction("f")));
  return module.function<R(Args...)>("f")(args...);
}

uint32_t bits(float x) {
  return std::bit_cast<uint32_t>(x);
}

TEST(FlushDenormals, OperandsAndResultsOfArithmetic) {
  const auto f = [](const std::string& op, float a, float b) {
    return bits(run<float>("float @f(float %a, float %b)", "%r = " + op + " float %a, %b\nret float %r", a, b));
  };
  EXPECT_EQ(f("fadd", kTiny, kLeast), bits(kLeast));  // the operand is zero
  EXPECT_EQ(f("fmul", kTiny, 0x1p100f), bits(0.0f));  // though the product were no denormal
  EXPECT_EQ(f("fmul", -kLeast, 0.5f), bits(-0.0f));   // the result
  EXPECT_EQ(f("fsub", kLeast * 1.5f, kLeast), bits(0.0f));
  EXPECT_EQ(f("fdiv", 1, kTiny), bits(INFINITY));
  EXPECT_EQ(f("fadd", 1, 2), bits(3));
}

TEST(FlushDenormals, ComparisonsSeeZeros) {
  EXPECT_EQ(run<int>("i32 @f(float %a)", "%c = fcmp oeq float %a, 0.0\n%r = zext i1 %c to i32\nret i32 %r", kTiny), 1);
}

TEST(FlushDenormals, FunctionsThatHaveSuchAForm) {
  EXPECT_EQ(bits(run<float>(
                "float @f(float %a)",
                "%r = call float @llvm.fma.f32(float %a, float 0x46F0000000000000, float 1.0)\nret float %r", kTiny)),
            bits(1));
  EXPECT_EQ(bits(run<float>("float @f(float %a)",
                            "%r = call float @llvm.minimumnum.f32(float %a, float 1.0)\nret float %r", kTiny)),
            bits(0));
}

TEST(FlushDenormals, MovesSignsAndOtherTypesAreLeft) {
  EXPECT_EQ(bits(run<float>("float @f(float %a)", "%r = fneg float %a\nret float %r", kTiny)), bits(-kTiny));
  EXPECT_EQ(bits(run<float>("float @f(float %a)", "%r = call float @llvm.fabs.f32(float %a)\nret float %r", -kTiny)),
            bits(kTiny));
  EXPECT_EQ(bits(run<float>("float @f(float %a, i32 %c)",
                            "%b = icmp ne i32 %c, 0\n%r = select i1 %b, float %a, float 1.0\nret float %r", kTiny, 1)),
            bits(kTiny));
  EXPECT_EQ((run<double>("double @f(double %a)", "%r = fmul double %a, 0.5\nret double %r", 0x1p-1060)), 0x1p-1061);
}

TEST(FlushDenormals, ConversionsFlushTheFloat) {
  EXPECT_EQ((run<double>("double @f(float %a)", "%r = fpext float %a to double\nret double %r", kTiny)), 0.0);
  EXPECT_EQ(bits(run<float>("float @f(double %a)", "%r = fptrunc double %a to float\nret float %r", 0x1p-130)), 0u);
}

}  // namespace
}  // namespace cupola::kir
