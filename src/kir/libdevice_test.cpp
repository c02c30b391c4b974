// Oracle: values by hand; texts by what the contract says.

#include "kir/libdevice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kLibrary[] =
    "declare double @llvm.tan.f64(double)\n"
    "define float @__nv_twice(float %x) \"target-cpu\"=\"sm_89\" section \"elementary\" {\n"
    " %r = fadd float %x, %x\n ret float %r\n}\n"
    "define float @__nv_as_is(float %x) {\n %r = fneg float %x\n ret float %r\n}\n"
    "define double @__nv_tan(double %x) {\n %r = call double @llvm.tan.f64(double %x)\n ret double %r\n}\n"
    "define void @unlisted() {\n ret void\n}\n!llvm.module.flags = !{!0}\n!0 = !{i32 4, !\"nvvm-reflect-ftz\", i32 "
    "0}\n";
constexpr char kCLibrary[] = "define double @tan(double %x) {\n %r = fadd double %x, 0.5\n ret double %r\n}\n";

Result<> make(TestModule& module, std::span<const LibdeviceFunction> functions, const std::string& c_library) {
  return to_libdevice(*module, functions, std::as_bytes(std::span(c_library)));
}

constexpr LibdeviceFunction kFunctions[] = {{"__nv_twice", true}, {"__nv_as_is", false}, {"__nv_tan", false}};

TEST(Libdevice, HoldsWhatIsListedAndNothingOpenButTheReflection) {
  TestModule module(kLibrary);
  ASSERT_TRUE(make(module, kFunctions, kCLibrary));
  for (const llvm::Function& function : *module) {
    if (function.isDeclaration() && !function.isIntrinsic()) EXPECT_EQ(function.getName(), "__nvvm_reflect");
    if (!function.isDeclaration())
      EXPECT_EQ(function.hasExternalLinkage(), function.getName().starts_with("__nv_")) << function.getName().str();
  }
  EXPECT_THAT(module.text(), Not(HasSubstr("unlisted")));
  EXPECT_THAT(module.text(), Not(HasSubstr("sm_89")));
  EXPECT_THAT(module.text(), Not(HasSubstr("module.flags")));
  EXPECT_TRUE(module->getFunction("__nv_tan")->doesNotAccessMemory());
  fold_reflect(*module, kDefaultArchitecture);
  EXPECT_EQ(module.function<double(double)>("__nv_tan")(1.0), 1.5);
}

/// What __nv_twice and __nv_as_is give for the least denormal in a program that flushes, or not.
struct Answers {
  float twice, as_is;
};
Answers in_a_program(int flushes) {
  TestModule module(kLibrary);
  EXPECT_TRUE(make(module, kFunctions, kCLibrary));
  module->addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", static_cast<uint32_t>(flushes));
  fold_reflect(*module, kDefaultArchitecture);
  const float denormal = 0x1p-149f;
  const auto twice = module.function<float(float)>("__nv_twice");
  return {twice(denormal), module.function<float(float)>("__nv_as_is")(denormal)};
}
TEST(Libdevice, FlushesDenormalsWhereTheProgramSaysSo) {
  EXPECT_EQ(in_a_program(1).twice, 0.0f);
  EXPECT_EQ(in_a_program(1).as_is, -0x1p-149f);
  EXPECT_EQ(in_a_program(0).twice, 0x1p-148f);
  EXPECT_EQ(in_a_program(0).as_is, -0x1p-149f);
}

TEST(Libdevice, RefusesWhatIsMissing) {
  TestModule missing(kLibrary), open(kLibrary);
  const LibdeviceFunction absent[] = {{"__nv_absent", false}};
  const auto first = make(missing, absent, kCLibrary);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::NotSupported);
  EXPECT_THAT(first.error().message, HasSubstr("__nv_absent"));
  const auto second = make(open, kFunctions, "define double @sin(double %x) {\n ret double %x\n}\n");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("'tan'"));
}

}  // namespace
}  // namespace cupola::kir
