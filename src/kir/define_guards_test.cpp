// Oracle: tables of what the head of define_guards.cpp says, written out by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

/// "define i32 @f(i32 %a, i32 %b)" around one binary instruction.
std::string binary(const std::string& instruction) {
  return "define i32 @f(i32 noundef %a, i32 noundef %b) { %r = " + instruction + " i32 %a, %b\n ret i32 %r }";
}

int32_t run(const std::string& instruction, int32_t a, int32_t b) {
  TestModule module(binary(instruction));
  define_guards(*module);
  return module.function<int32_t(int32_t, int32_t)>("f")(a, b);
}

TEST(DefineGuards, ShiftsClamp) {
  EXPECT_EQ(run("shl", 3, 4), 48);
  EXPECT_EQ(run("shl", 3, 32), 0);
  EXPECT_EQ(run("shl", 3, -1), 0);
  EXPECT_EQ(run("lshr", -1, 31), 1);
  EXPECT_EQ(run("lshr", -1, 33), 0);
  EXPECT_EQ(run("ashr", -8, 1), -4);
  EXPECT_EQ(run("ashr", -8, 32), -1);
  EXPECT_EQ(run("ashr", 8, 1000), 0);
}

TEST(DefineGuards, ConstantShiftBeyondTheWidthIsZero) {
  TestModule module("define i32 @f(i32 %a) { %r = shl i32 %a, 40\n ret i32 %r }");
  define_guards(*module);
  EXPECT_EQ(module.function<int32_t(int32_t)>("f")(7), 0);
}

TEST(DefineGuards, DivisionNeverTraps) {
  EXPECT_EQ(run("sdiv", 7, -2), -3);
  EXPECT_EQ(run("sdiv", 7, 0), -1);
  EXPECT_EQ(run("sdiv", kMin, -1), kMin);
  EXPECT_EQ(run("sdiv", kMin, 0), -1);
  EXPECT_EQ(run("udiv", -2, 2), kMax);
  EXPECT_EQ(run("udiv", 7, 0), -1);
  EXPECT_EQ(run("srem", -7, 2), -1);
  EXPECT_EQ(run("srem", 7, 0), -1);
  EXPECT_EQ(run("srem", kMin, -1), 0);
  EXPECT_EQ(run("urem", 7, 0), -1);
  EXPECT_EQ(run("urem", 7, 4), 3);
}

TEST(DefineGuards, ConstantDivisorStaysPlain) {
  TestModule module("define i32 @f(i32 %a) { %r = sdiv i32 %a, 10\n ret i32 %r }");
  define_guards(*module);
  EXPECT_EQ(module.text().find("select"), std::string::npos);
}

template <typename To, typename From>
To converted(const std::string& instruction, const std::string& from, const std::string& to, From value) {
  TestModule module("define " + to + " @f(" + from + " %x) { %r = " + instruction + " " + from + " %x to " + to +
                    "\n ret " + to + " %r }");
  define_guards(*module);
  return module.function<To(From)>("f")(value);
}

const float kNanF = std::numeric_limits<float>::quiet_NaN();
const double kNan = std::numeric_limits<double>::quiet_NaN();
const float kInfF = std::numeric_limits<float>::infinity();

TEST(DefineGuards, FloatToSignedSaturates) {
  const auto f = [](float x) { return converted<int32_t>("fptosi", "float", "i32", x); };
  EXPECT_EQ(f(-1.9f), -1);
  EXPECT_EQ(f(2147483520.0f), 2147483520);  // the largest float below 2^31
  EXPECT_EQ(f(2147483648.0f), kMax);
  EXPECT_EQ(f(-2147483648.0f), kMin);
  EXPECT_EQ(f(-3e9f), kMin);
  EXPECT_EQ(f(kInfF), kMax);
  EXPECT_EQ(f(-kInfF), kMin);
  EXPECT_EQ(f(kNanF), 0);
}

TEST(DefineGuards, FloatToUnsignedSaturates) {
  const auto f = [](float x) { return converted<uint32_t>("fptoui", "float", "i32", x); };
  EXPECT_EQ(f(-0.5f), 0u);
  EXPECT_EQ(f(-5.0f), 0u);
  EXPECT_EQ(f(3e9f), 3000000000u);
  EXPECT_EQ(f(4294967296.0f), 0xffffffffu);
  EXPECT_EQ(f(kNanF), 0u);
}

TEST(DefineGuards, NanOfDoubleOrToSixtyFourBitsIsTheHighestBit) {
  EXPECT_EQ((converted<int32_t>("fptosi", "double", "i32", kNan)), kMin);
  EXPECT_EQ((converted<uint32_t>("fptoui", "double", "i32", kNan)), 0x80000000u);
  EXPECT_EQ((converted<int64_t>("fptosi", "float", "i64", kNanF)), std::numeric_limits<int64_t>::min());
  EXPECT_EQ((converted<uint64_t>("fptoui", "double", "i64", kNan)), 0x8000000000000000u);
}

TEST(DefineGuards, DoubleBoundsAreExact) {
  const auto f = [](double x) { return converted<int32_t>("fptosi", "double", "i32", x); };
  EXPECT_EQ(f(2147483647.9), kMax);
  EXPECT_EQ(f(-2147483648.9), kMin);
  EXPECT_EQ((converted<int64_t>("fptosi", "double", "i64", 1e19)), std::numeric_limits<int64_t>::max());
  EXPECT_EQ((converted<uint64_t>("fptoui", "double", "i64", 1e19)), 10000000000000000000u);
  EXPECT_EQ((converted<uint64_t>("fptoui", "double", "i64", 2e19)), std::numeric_limits<uint64_t>::max());
}

TEST(DefineGuards, ZeroCountIsDefined) {
  TestModule module(
      "declare i32 @llvm.ctlz.i32(i32, i1)\n"
      "define i32 @f(i32 %x) { %r = call i32 @llvm.ctlz.i32(i32 %x, i1 true)\n ret i32 %r }");
  define_guards(*module);
  EXPECT_EQ(module.function<int32_t(int32_t)>("f")(0), 32);
}

TEST(DefineGuards, DropsPromisesThatCudaDoesNotMake) {
  TestModule module(
      "declare void @other()\n"
      "define void @f(ptr noalias noundef nonnull %p, i32 noundef %x) mustprogress {\n"
      "  %y = add nsw nuw i32 %x, 1\n  store i32 %y, ptr %p, !tbaa !0\n  call void @other()\n  ret void }\n"
      "!0 = !{!1, !1, i64 0}\n!1 = !{!\"int\", !2}\n!2 = !{!\"root\"}");
  define_guards(*module);
  for (const char* word : {"nsw", "nuw", "noundef", "nonnull", "noalias", "mustprogress", "!tbaa"})
    EXPECT_EQ(module.text().find(word), std::string::npos) << word;
}

TEST(DefineGuards, AlignsLocalVariablesThatVectorsFitInto) {
  TestModule module(
      "define void @f() {\n  %a = alloca [4 x i32], align 4\n  %b = alloca [3 x i32], align 4\n"
      "  %c = alloca [64 x i8], align 32\n  ret void }");
  define_guards(*module);
  for (const char* line :
       {"%a = alloca [4 x i32], align 16", "%b = alloca [3 x i32], align 4", "%c = alloca [64 x i8], align 32"})
    EXPECT_NE(module.text().find(line), std::string::npos) << line << " in " << module.text();
}

}  // namespace
}  // namespace cupola::kir
