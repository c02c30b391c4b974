// Oracle: LLVM's Language Reference ("llvm.fptosi.sat", "llvm.lround"), values by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kir/core_intrinsics.h"
#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

/// @f hands its argument to one intrinsic.
std::string caller(const std::string& result, const std::string& name, const std::string& type) {
  return "declare " + result + " @llvm." + name + "(" + type + ")\ndefine " + result + " @f(" + type +
         " %x) { %r = call " + result + " @llvm." + name + "(" + type + " %x)\n ret " + result + " %r }";
}

template <typename To, typename From>
To run(const std::string& result, const std::string& name, const std::string& type, From x) {
  TestModule module(caller(result, name, type));
  reduce_core(*module);
  EXPECT_EQ(module.text().find("call " + result + " @llvm." + name), std::string::npos);
  return module.function<To(From)>("f")(x);
}

TEST(ReduceCore, SaturatingConversions) {
  const auto narrow = [](float x) { return run<int8_t>("i8", "fptosi.sat.i8.f32", "float", x); };
  EXPECT_EQ(narrow(1e9f), 127);
  EXPECT_EQ(narrow(-200), -128);
  EXPECT_EQ(narrow(-5.9f), -5);
  EXPECT_EQ(narrow(std::nanf("")), 0);
  EXPECT_EQ((run<uint16_t>("i16", "fptoui.sat.i16.f64", "double", 70000.0)), 65535);
  EXPECT_EQ((run<uint16_t>("i16", "fptoui.sat.i16.f64", "double", -1.0)), 0);
  EXPECT_EQ((run<int64_t>("i64", "fptosi.sat.i64.f64", "double", std::nan(""))), 0);
  EXPECT_EQ((run<int64_t>("i64", "fptosi.sat.i64.f64", "double", 1e30)), std::numeric_limits<int64_t>::max());
}

TEST(ReduceCore, RoundingConversions) {
  EXPECT_EQ((run<int64_t>("i64", "llrint.i64.f64", "double", 2.5)), 2);
  EXPECT_EQ((run<int64_t>("i64", "llround.i64.f64", "double", 2.5)), 3);
  EXPECT_EQ((run<int64_t>("i64", "lround.i64.f32", "float", -2.5f)), -3);
  EXPECT_EQ((run<int32_t>("i32", "lrint.i32.f32", "float", 1e20f)), std::numeric_limits<int32_t>::max());
}

TEST(ReduceCore, CanonicalizeKeepsTheNumber) {
  EXPECT_EQ((run<float>("float", "canonicalize.f32", "float", -1.5f)), -1.5f);
  EXPECT_EQ((run<float>("float", "canonicalize.f32", "float", 0x1p-140f)), 0x1p-140f);
}

TEST(ReduceCore, NotesForOtherPassesGo) {
  TestModule module(
      "declare i32 @llvm.expect.i32(i32, i32)\ndeclare ptr @llvm.strip.invariant.group.p0(ptr)\n"
      "declare ptr @llvm.launder.invariant.group.p0(ptr)\ndeclare void @llvm.donothing()\n"
      "declare ptr @llvm.invariant.start.p0(i64, ptr)\ndeclare void @llvm.invariant.end.p0(ptr, i64, ptr)\n"
      "define i32 @f(ptr %p) {\n call void @llvm.donothing()\n %q = call ptr @llvm.launder.invariant.group.p0(ptr %p)\n"
      " %r = call ptr @llvm.strip.invariant.group.p0(ptr %q)\n"
      " %t = call ptr @llvm.invariant.start.p0(i64 4, ptr %r)\n %v = load i32, ptr %r, !invariant.group !0\n"
      " call void @llvm.invariant.end.p0(ptr %t, i64 4, ptr %r)\n"
      " %e = call i32 @llvm.expect.i32(i32 %v, i32 1)\n ret i32 %e }\n!0 = !{}");
  reduce_core(*module);
  EXPECT_THAT(module.text(), testing::Not(testing::HasSubstr(" call ")));
  EXPECT_THAT(module.text(), testing::Not(testing::HasSubstr("!invariant.group")));
  int value = 42;
  EXPECT_EQ(module.function<int(int*)>("f")(&value), 42);
}

TEST(CoreIntrinsics, ClassesComeFromTheTable) {
  EXPECT_EQ(core_class_of(llvm::Intrinsic::fma), CoreClass::kFloat);
  EXPECT_EQ(core_class_of(llvm::Intrinsic::memset), CoreClass::kMemory);
  EXPECT_EQ(core_class_of(llvm::Intrinsic::fptosi_sat), std::nullopt);
}

}  // namespace
}  // namespace cupola::kir
