#include "kir/combine.h"

#include <gtest/gtest.h>

#include <limits>

#include "kir/pass_analyses.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

/// (float)(half)(x << 21), by one of the ways in which programs say so.
std::string text(const std::string& to_half) {
  return "declare i32 @llvm.smax.i32(i32, i32)\ndeclare i32 @llvm.umin.i32(i32, i32)\n"
         "declare i32 @llvm.smin.i32(i32, i32)\ndefine float @f(i32 %x) {\n %s = shl i32 %x, 21\n" +
         to_half + "\n %r = fpext half %h to float\n" + " ret float %r\n}";
}

struct Way {
  const char* text;
  bool is_signed;
};
constexpr Way kWays[] = {
    {"%h = uitofp i32 %s to half", false},
    {"%h = sitofp i32 %s to half", true},
    {"%w = uitofp i32 %s to float\n %h = fptrunc float %w to half", false},
    {"%w = sitofp i32 %s to float\n %h = fptrunc float %w to half", true},
    {"%w = sitofp i32 %s to double\n %h = fptrunc double %w to half", true},
    {"%c = icmp ne i32 %x, 77\n %w = uitofp i32 %s to float\n %v = select i1 %c, float %w, float 1.0\n"
     " %h = fptrunc float %v to half",
     false},
    {"%c = icmp ugt i32 %x, 77\n %w = sitofp i32 %s to float\n %v = select i1 %c, float %w, float %w\n"
     " %h = fptrunc float %v to half",
     true},
    {"%b = call i32 @llvm.smax.i32(i32 %s, i32 -3000000)\n %h = sitofp i32 %b to half", true},
    {"%b = call i32 @llvm.umin.i32(i32 %s, i32 4292870145)\n %h = uitofp i32 %b to half", false},
    {"%b = call i32 @llvm.smin.i32(i32 %s, i32 2145386496)\n %h = sitofp i32 %b to half", true},
    {"%l = zext i32 %x to i64\n %q = shl i64 %l, 53\n %h = sitofp i64 %q to half", true},
    {"%v = insertelement <2 x i32> zeroinitializer, i32 %s, i32 1\n %w = uitofp <2 x i32> %v to <2 x half>\n"
     " %h = extractelement <2 x half> %w, i32 1",
     false},
};

void combine(TestModule& module) {
  llvm::FunctionPassManager passes;
  add_combine(passes);
  PassAnalyses analyses;
  passes.run(*module->getFunction("f"), analyses.functions);
}

/// Every multiple of 2^21 but zero is infinite in half.
void expect_infinities(TestModule& module, bool is_signed) {
  auto* f = module.function<float(uint32_t)>("f");
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(f(0), 0);
  EXPECT_EQ(f(1), kInfinity);
  EXPECT_EQ(f(0x3ff), kInfinity);
  EXPECT_EQ(f(0x400), is_signed ? -kInfinity : kInfinity);
  EXPECT_EQ(f(0x7ff), is_signed ? -kInfinity : kInfinity);
}

TEST(Combine, IntegersBeyondHalvesStayInfinite) {
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.text);
    TestModule module(text(way.text));
    combine(module);
    combine(module);
    expect_infinities(module, way.is_signed);
  }
}

TEST(Combine, IntegersAreBoundedOnce) {
  TestModule module(text(kWays[1].text));
  combine(module);
  const std::string once = module.text();
  EXPECT_NE(once.find("llvm.smax"), std::string::npos) << once;
  combine(module);
  EXPECT_EQ(module.text(), once);
}

TEST(Combine, IntegersThatHalvesHoldAreNotBounded) {
  for (const char* narrow : {"%m = and i32 %x, 65504", "%m = and i32 %x, 2047"}) {
    TestModule module("define float @f(i32 %x) {\n" + std::string(narrow) +
                      "\n %h = uitofp i32 %m to half\n %r = fpext half %h to float\n ret float %r\n}");
    combine(module);
    const std::string made = module.text();
    EXPECT_EQ(made.find(" call "), std::string::npos) << made;
    EXPECT_EQ(made.find("half"), std::string::npos) << made;
    auto* f = module.function<float(uint32_t)>("f");
    EXPECT_EQ(f(0x7e0), 0x7e0);
    EXPECT_EQ(f(0x10000), 0);
  }
}

}  // namespace
}  // namespace cupola::kir
