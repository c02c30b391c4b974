// Oracle: values worked out by hand from the PTX ISA's definitions, or the host's arithmetic where the comment says so.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A function @f that hands its parameters to one intrinsic.
std::string caller(const std::string& result, const std::string& intrinsic, const std::vector<std::string>& types) {
  std::string declared, parameters, passed;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string comma = i ? ", " : "", name = " %a" + std::to_string(i);
    declared += comma + types[i];
    parameters += comma + types[i] + name;
    passed += comma + types[i] + name;
  }
  const std::string callee = result + " @llvm.nvvm." + intrinsic + "(";
  return "declare " + callee + declared + ")\ndefine " + result + " @f(" + parameters + ") {\n  %r = call " + callee +
         passed + ")\n  ret " + result + " %r\n}\n";
}

template <typename R, typename... Args>
R run(const std::string& result, const std::string& intrinsic, const std::vector<std::string>& types, Args... args) {
  TestModule module(caller(result, intrinsic, types));
  const Result<> expanded = expand_nvvm(*module);
  EXPECT_TRUE(expanded) << expanded.error().message;
  return module.function<R(Args...)>("f")(args...);
}

uint32_t u32(const std::string& intrinsic, uint32_t a, uint32_t b) {
  return run<uint32_t>("i32", intrinsic, {"i32", "i32"}, a, b);
}
uint32_t u32(const std::string& intrinsic, uint32_t a, uint32_t b, uint32_t c) {
  return run<uint32_t>("i32", intrinsic, {"i32", "i32", "i32"}, a, b, c);
}

TEST(ExpandBits, Permute) {
  EXPECT_EQ(u32("prmt", 0x33221100, 0x77665544, 0x3210), 0x33221100u);
  EXPECT_EQ(u32("prmt", 0x33221100, 0x77665544, 0x7654), 0x77665544u);
  EXPECT_EQ(u32("prmt", 0x33221100, 0x77665544, 0x0123), 0x00112233u);
  EXPECT_EQ(u32("prmt", 0x800000ff, 0, 0x8b88), 0xffffffffu);  // sign of byte 0 (ff), of byte 3 (80)
  EXPECT_EQ(u32("prmt", 0x000000ff, 0, 0xb888), 0x00ffffffu);
  EXPECT_EQ(u32("prmt.f4e", 0x33221100, 0x77665544, 1), 0x44332211u);
  EXPECT_EQ(u32("prmt.b4e", 0x33221100, 0x77665544, 1), 0x66770011u);
  EXPECT_EQ(u32("prmt.rc8", 0x33221100, 2), 0x22222222u);
  EXPECT_EQ(u32("prmt.rc16", 0x33221100, 1), 0x33223322u);
  EXPECT_EQ(u32("prmt.ecl", 0x33221100, 2), 0x33222222u);
  EXPECT_EQ(u32("prmt.ecr", 0x33221100, 2), 0x22221100u);
}

TEST(ExpandBits, MultiplyHigh) {
  EXPECT_EQ(u32("mulhi.ui", 0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(u32("mulhi.i", 0xffffffff, 0xffffffff), 0u);
  EXPECT_EQ(u32("mulhi.i", 0x80000000, 2), 0xffffffffu);
  EXPECT_EQ((run<uint64_t>("i64", "mulhi.ull", {"i64", "i64"}, ~0ull, ~0ull)), ~0ull - 1);
  EXPECT_EQ(u32("mul24.ui", 0xff000003, 5), 15u);
  EXPECT_EQ(u32("mul24.i", 0x00ffffff, 5), static_cast<uint32_t>(-5));
}

TEST(ExpandBits, SumOfAbsoluteDifference) {
  EXPECT_EQ(u32("sad.ui", 1, 0xffffffff, 3), 0xfffffffeu + 3);
  EXPECT_EQ(u32("sad.i", 1, 0xffffffff, 3), 5u);
}

TEST(ExpandBits, FieldsAndFunnels) {
  EXPECT_EQ(u32("bmsk.clamp", 4, 8), 0xff0u);
  EXPECT_EQ(u32("bmsk.clamp", 0, 40), 0xffffffffu);
  EXPECT_EQ(u32("bmsk.clamp", 40, 4), 0u);
  EXPECT_EQ(u32("bmsk.wrap", 32, 1), 1u);
  EXPECT_EQ(u32("sext.clamp", 0x80, 8), 0xffffff80u);
  EXPECT_EQ(u32("zext.clamp", 0xabcd, 8), 0xcdu);
  EXPECT_EQ(u32("sext.clamp", 0x12345678, 99), 0x12345678u);
  EXPECT_EQ(u32("sext.clamp", 1, 0), 0u);
  EXPECT_EQ((run<uint32_t>("i32", "fshl.clamp.i32", {"i32", "i32", "i32"}, 1u, 0x80000000u, 1u)), 3u);
  EXPECT_EQ((run<uint32_t>("i32", "fshl.clamp.i32", {"i32", "i32", "i32"}, 1u, 7u, 50u)), 7u);
  EXPECT_EQ((run<uint32_t>("i32", "fshr.clamp.i32", {"i32", "i32", "i32"}, 9u, 7u, 50u)), 9u);
}

TEST(ExpandBits, FindLeading) {
  const auto flo = [](const std::string& sign, uint32_t x, bool shift) {
    return run<uint32_t>("i32", "flo." + sign + ".i32", {"i32", "i1"}, x, shift);
  };
  EXPECT_EQ(flo("u", 0x00010000, false), 16u);
  EXPECT_EQ(flo("u", 0x00010000, true), 15u);
  EXPECT_EQ(flo("u", 0, false), 0xffffffffu);
  EXPECT_EQ(flo("s", 0xffffff00, false), 7u);
  EXPECT_EQ(flo("s", 0xffffffff, false), 0xffffffffu);
}

TEST(ExpandBits, DotProducts) {
  const auto expanded = [](const std::string& call) {
    TestModule module(
        "declare i32 @llvm.nvvm.idp4a.s.u(i32, i32, i32)\ndeclare i32 @llvm.nvvm.idp4a.u.u(i32, i32, i32)\n"
        "declare i32 @llvm.nvvm.idp2a.s.s(i32, i32, i1 immarg, i32)\n"
        "define i32 @f(i32 %a, i32 %b, i32 %c) { %r = call i32 @llvm.nvvm." +
        call + " ret i32 %r }");
    EXPECT_TRUE(expand_nvvm(*module));
    return module.text();
  };
  EXPECT_THAT(expanded("idp4a.s.u(i32 %a, i32 %b, i32 %c)"),
              HasSubstr("call i32 @cupola.dot4(i32 1, i32 %a, i32 %b, i32 %c)"));
  EXPECT_THAT(expanded("idp2a.s.s(i32 %a, i32 %b, i1 false, i32 %c)"),
              HasSubstr("call i32 @cupola.dot2(i32 3, i32 %a, i32 %b, i32 %c)"));
  EXPECT_THAT(
      expanded("idp2a.s.s(i32 %a, i32 %b, i1 true, i32 %c)"),
      AllOf(HasSubstr("%1 = lshr i32 %b, 16"), HasSubstr("call i32 @cupola.dot2(i32 3, i32 %a, i32 %1, i32 %c)")));
  EXPECT_THAT(expanded("idp4a.u.u(i32 -16777216, i32 33554432, i32 1)"), HasSubstr("ret i32 511"));
}

TEST(ExpandMath, LeastAndMostPreferNumbers) {
  const float nan = std::nanf("");
  const auto f = [](const std::string& name, float a, float b) {
    return run<float>("float", name, {"float", "float"}, a, b);
  };
  EXPECT_EQ(f("fmin.f", nan, 3), 3);
  EXPECT_EQ(f("fmax.f", 3, nan), 3);
  EXPECT_TRUE(std::isnan(f("fmin.nan.f", nan, 3)));
  EXPECT_TRUE(std::signbit(f("fmin.f", 0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(f("fmax.f", -0.0f, 0.0f)));
  EXPECT_EQ(f("fmin.xorsign.abs.f", -2, 3), -2);
  EXPECT_EQ(f("fmax.xorsign.abs.f", -2, -3), 3);
}

TEST(ExpandMath, SaturateAndFlush) {
  const auto f = [](const std::string& name, float a) { return run<float>("float", name, {"float"}, a); };
  EXPECT_EQ(f("saturate.f", -1), 0);
  EXPECT_EQ(f("saturate.f", 2), 1);
  EXPECT_EQ(f("saturate.f", 0.25f), 0.25f);
  EXPECT_EQ(f("saturate.f", std::nanf("")), 0);
  EXPECT_EQ(f("ceil.ftz.f", 1e-40f), 0);
  EXPECT_EQ(f("ceil.f", 1e-40f), 1);
  EXPECT_EQ(f("round.f", 2.5f), 2);
  EXPECT_EQ(f("rsqrt.approx.f", 16), 0.25f);
  EXPECT_EQ((run<float>("float", "mul.rn.ftz.f", {"float", "float"}, 1e-30f, 1e-10f)), 0);
}

TEST(ExpandMath, ToIntegersRoundsAsNamed) {
  const auto f = [](const std::string& name, float a) { return run<int32_t>("i32", name, {"float"}, a); };
  EXPECT_EQ(f("f2i.rn", 2.5f), 2);
  EXPECT_EQ(f("f2i.rz", -2.5f), -2);
  EXPECT_EQ(f("f2i.rm", -2.5f), -3);
  EXPECT_EQ(f("f2i.rp", 2.5f), 3);
  EXPECT_EQ(f("f2i.rn", 1e20f), 2147483647);
  EXPECT_EQ(f("f2ui.rz", -1), 0);
  EXPECT_EQ((run<uint64_t>("i64", "d2ull.rn", {"double"}, 3.5)), 4u);
}

TEST(ExpandMath, HalvesOfADouble) {
  const double x = 1.2345678e-10;  // oracle: the host's bits
  const auto bits = std::bit_cast<uint64_t>(x);
  EXPECT_EQ((run<uint32_t>("i32", "d2i.hi", {"double"}, x)), static_cast<uint32_t>(bits >> 32));
  EXPECT_EQ((run<uint32_t>("i32", "d2i.lo", {"double"}, x)), static_cast<uint32_t>(bits));
  EXPECT_EQ((run<double>("double", "lohi.i2d", {"i32", "i32"}, static_cast<uint32_t>(bits),
                         static_cast<uint32_t>(bits >> 32))),
            x);
}

std::string expanded(const std::string& text) {
  TestModule module(text);
  const Result<> result = expand_nvvm(*module);
  return result ? module.text() : result.error().message;
}

TEST(ExpandWarp, EverythingBecomesARow) {
  EXPECT_THAT(expanded(caller("i32", "shfl.sync.down.i32", {"i32", "i32", "i32", "i32"})),
              HasSubstr("call i64 @cupola.shuffle(i32 %a0, i32 1, i32 %a1, i32 %a2, i32 %a3)"));
  EXPECT_THAT(expanded(caller("i32", "vote.ballot.sync", {"i32", "i1"})), HasSubstr("@cupola.vote(i32 %a0, i32 3"));
  EXPECT_THAT(expanded(caller("i32", "redux.sync.umax", {"i32", "i32"})),
              HasSubstr("@cupola.redux(i32 %a1, i32 4, i32 %a0)"));
  EXPECT_THAT(expanded(caller("{ i32, i1 }", "match.all.sync.i64p", {"i32", "i64"})),
              HasSubstr("@cupola.match(i32 %a0, i32 1, i64 %a1)"));
  EXPECT_THAT(expanded(caller("i1", "barrier.cta.red.and.aligned.all", {"i32", "i1"})),
              HasSubstr("@cupola.barrier_reduce(i32 %a0, i32 0, i32 1"));
  EXPECT_THAT(expanded(caller("i32", "read.ptx.sreg.ntid.y", {})), HasSubstr("@cupola.ntid.y()"));
  EXPECT_THAT(expanded(caller("i1", "isspacep.shared", {"ptr"})), HasSubstr("@cupola.is_shared(ptr %a0)"));
}

TEST(ExpandWarp, SynchronisingCallsStayConvergent) {
  const std::string text = expanded(
      "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
      "define void @f() { call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n ret void }");
  EXPECT_THAT(text, HasSubstr("; Function Attrs: convergent nounwind\ndeclare void @cupola.barrier"));
}

TEST(ExpandNvvm, CFunctionsReachTheRunHalf) {
  const std::string text = expanded(
      "declare i32 @vprintf(ptr, ptr)\ndefine i32 @f(ptr %p) { %r = call i32 @vprintf(ptr %p, ptr %p)\n ret i32 %r }");
  EXPECT_THAT(text, HasSubstr("call i32 @cupola.vprintf(ptr %0, ptr %1)"));
}

TEST(ExpandNvvm, RefusalNamesTheIntrinsicAndTheFunction) {
  EXPECT_THAT(expanded("declare void @llvm.nvvm.barrier.cluster.wait()\n"
                       "define void @_Z1fv() { call void @llvm.nvvm.barrier.cluster.wait()\n ret void }"),
              HasSubstr("function 'f()': llvm.nvvm.barrier.cluster.wait is not supported"));
}

}  // namespace
}  // namespace cupola::kir
