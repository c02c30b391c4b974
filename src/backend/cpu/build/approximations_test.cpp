// Oracle of the values: the host's double arithmetic, rounded to float.

#include "backend/cpu/build/approximations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "backend/cpu/build/object_file.h"
#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr unsigned kLanes = 32;
using Row = std::array<float, kLanes>;

/// A function (ptr x, ptr y) that puts a row into y; `%x` and `%y` are the rows before.
std::string function(const std::string& name, const std::string& code) {
  return "define void @" + name + "(ptr %p, ptr %q) {\n%x = load <32 x float>, ptr %p, align 4\n" +
         "%y = load <32 x float>, ptr %q, align 4\n" + code + "\nstore <32 x float> %r, ptr %q, align 4\nret void\n}\n";
}

const std::string kOne = "splat (float 1.0)";
const std::string kText = "declare <32 x float> @llvm.sqrt.v32f32(<32 x float>)\n" +
                          function("quotient", "%r = fdiv afn <32 x float> %x, %y") +
                          function("reciprocal", "%r = fdiv afn <32 x float> " + kOne + ", %x") +
                          function("root", "%r = call afn <32 x float> @llvm.sqrt.v32f32(<32 x float> %x)") +
                          function("inverse_root",
                                   "%s = call afn <32 x float> @llvm.sqrt.v32f32(<32 x float> %x)\n"
                                   "%r = fdiv afn <32 x float> " +
                                       kOne + ", %s");

float exact(const std::string& name, double x, double y) {
  if (name == "quotient") return static_cast<float>(x / y);
  if (name == "reciprocal") return static_cast<float>(1 / x);
  return static_cast<float>(name == "root" ? std::sqrt(x) : 1 / std::sqrt(x));
}

/// In units in the last place of the right one; 0 for the same zero or infinity, or two NaNs.
double error(float result, float right) {
  if (std::isnan(right)) return std::isnan(result) ? 0 : HUGE_VAL;
  if (right == 0 || std::isinf(right))
    return std::bit_cast<uint32_t>(result) == std::bit_cast<uint32_t>(right) ? 0 : HUGE_VAL;
  const int exponent = std::max(std::ilogb(right), -126) - 23;
  return std::abs(static_cast<double>(result) - right) / std::ldexp(1.0, exponent);
}

TEST(Approximations, AreWithinTwoUnitsAndKeepSpecialValues) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "the processor's estimates have too few bits";
  kir::TestModule module(kText);
  approximate(*module, **machine_for("cpu:x86_64:x86-64-v4"));
  EXPECT_THAT(module.text(),
              AllOf(Not(HasSubstr("afn")), Not(HasSubstr("fdiv")), Not(HasSubstr("call <32 x float> @llvm.sqrt"))));
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  constexpr float kEdges[] = {0.0f,        -0.0f,     kInfinite, -kInfinite, std::numeric_limits<float>::quiet_NaN(),
                              1,           -1,        3,         0x1p-149f,  -0x1p-149f,
                              0x1.8p-127f, 0x1p-126f, 0x1p-128f, 0x1p127f,   0x1.fffffep127f};
  std::mt19937 random(1);
  const auto operand = [&] {
    return random() % 2 ? kEdges[random() % std::size(kEdges)] : std::bit_cast<float>(static_cast<uint32_t>(random()));
  };
  for (const std::string name : {"quotient", "reciprocal", "root", "inverse_root"}) {
    auto* compute = module.function<void(const float*, float*)>(name);
    for (int round = 0; round < 3000; ++round) {
      Row x, y;
      for (unsigned lane = 0; lane < kLanes; ++lane) x[lane] = operand(), y[lane] = operand();
      Row result = y;
      compute(x.data(), result.data());
      for (unsigned lane = 0; lane < kLanes; ++lane)
        ASSERT_LE(error(result[lane], exact(name, x[lane], y[lane])), 2)
            << name << " of " << std::hexfloat << x[lane] << ", " << y[lane] << ": " << result[lane];
    }
  }
}

TEST(Approximations, AreNotMadeWhereTheyWouldBeTooRoughOrNoRow) {
  kir::TestModule older(kText);
  approximate(*older, **machine_for("cpu:x86_64:x86-64-v3"));
  EXPECT_THAT(older.text(), AllOf(Not(HasSubstr("afn")), HasSubstr("fdiv <32 x float>"), Not(HasSubstr("llvm.x86"))));
  kir::TestModule alone("define float @f(float %x) {\n%r = fdiv afn float %x, 3.0\nret float %r\n}");
  approximate(*alone, **machine_for("cpu:x86_64:x86-64-v4"));
  EXPECT_THAT(alone.text(), HasSubstr("fdiv float"));
}

TEST(Approximations, AreMadeOfWhatMayBeApproximateAlone) {
  kir::TestModule module(function("quotient", "%r = fdiv <32 x float> %x, %y"));
  approximate(*module, **machine_for("cpu:x86_64:x86-64-v4"));
  EXPECT_THAT(module.text(), HasSubstr("fdiv <32 x float>"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
