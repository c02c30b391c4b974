// Tests of the smaller passes and of prepare as a whole. Oracle: values by hand; texts by what the pass's contract
// says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string prepared(const std::string& text, const std::string& library = "") {
  TestModule module(text);
  const Result<> result = prepare(*module, {.device_library = std::as_bytes(std::span(library))});
  return result ? module.text() : result.error().message;
}

TEST(Read, RefusesWhatIsNotAModule) {
  llvm::LLVMContext context;
  for (const std::string bytes : {"BC\xC0\xDE garbage", "define i32 @f( {",
                                  "\x7f"
                                  "ELF"}) {
    const auto module = read(context, std::as_bytes(std::span(bytes)));
    ASSERT_FALSE(module) << bytes;
    EXPECT_EQ(module.error().code, ErrorCode::InvalidImage);
  }
}

TEST(Kernels, AreFoundByConventionAndByAnnotation) {
  TestModule module(
      "define ptx_kernel void @a() \"nvvm.maxntid\"=\"64,2\" \"nvvm.minctasm\"=\"3\" { ret void }\n"
      "define void @b() { ret void }\ndefine void @c() { ret void }\n"
      "!nvvm.annotations = !{!0}\n!0 = !{ptr @b, !\"kernel\", i32 1, !\"reqntidx\", i32 8, !\"reqntidy\", i32 4}");
  const auto found = kernels(*module);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(launch_bounds(*found[0]).max_block, (Dim3{64, 2, 1}));
  EXPECT_EQ(launch_bounds(*found[0]).min_blocks, 3u);
  EXPECT_EQ(launch_bounds(*found[1]).required_block, (Dim3{8, 4, 1}));
}

TEST(FoldReflect, LeavesOnlyTheBranchThatIsTaken) {
  TestModule module(
      "@s = constant [11 x i8] c\"__CUDA_FTZ\\00\"\ndeclare i32 @__nvvm_reflect(ptr)\n"
      "define i32 @f() { %r = call i32 @__nvvm_reflect(ptr @s)\n %c = icmp ne i32 %r, 0\n br i1 %c, label %a, label "
      "%b\n"
      "a:\n ret i32 1\nb:\n ret i32 2 }\n"
      "!llvm.module.flags = !{!0}\n!0 = !{i32 4, !\"nvvm-reflect-ftz\", i32 1}");
  fold_reflect(*module, 89);
  EXPECT_THAT(module.text(), Not(HasSubstr("ret i32 2")));
  EXPECT_EQ(module.function<int()>("f")(), 1);
}

TEST(FoldReflect, TellsTheArchitectureThatItIsGiven) {
  const std::string text =
      "@s = constant [12 x i8] c\"__CUDA_ARCH\\00\"\ndeclare i32 @__nvvm_reflect(ptr)\n"
      "define ptx_kernel void @k(ptr %p) { %r = call i32 @__nvvm_reflect(ptr @s)\n store i32 %r, ptr %p\n ret void }";
  EXPECT_THAT(prepared(text), HasSubstr("store i32 890"));
  TestModule module(text);
  ASSERT_TRUE(prepare(*module, {.device_library = {}, .architecture = 120}));
  EXPECT_THAT(module.text(), HasSubstr("store i32 1200"));
}

TEST(CallMath, ElementaryFunctionsAreTheLibrarys) {
  const std::string library =
      "define float @__nv_exp2f(float %x) noinline section \"elementary\" { %r = fadd float %x, 1.0\n ret float %r }\n"
      "define double @__nv_exp2(double %x) noinline { %r = fadd double %x, 1.0\n ret double %r }";
  const auto with = [&](const std::string& type, const std::string& call) {
    return prepared(
        "declare float @llvm.exp2.f32(float)\ndeclare double @llvm.exp2.f64(double)\n"
        "declare half @llvm.exp2.f16(half)\ndeclare float @llvm.nvvm.ex2.approx.f(float)\n"
        "define ptx_kernel void @k(ptr %p) {\n %x = load " +
            type + ", ptr %p\n %r = call " + call + "\n store " + type + " %r, ptr %p\n ret void }",
        library);
  };
  for (const auto* call : {"float @llvm.exp2.f32(float %x)", "float @llvm.nvvm.ex2.approx.f(float %x)"}) {
    EXPECT_THAT(with("float", call), HasSubstr("call float @__nv_exp2f"));
    EXPECT_THAT(with("float", call), Not(HasSubstr("section")));
  }
  EXPECT_THAT(with("half", "half @llvm.exp2.f16(half %x)"), HasSubstr("fptrunc float"));
  EXPECT_THAT(with("double", "double @llvm.exp2.f64(double %x)"), HasSubstr("call double @__nv_exp2"));
}

// The library's function is x 2^-127 2 2^126, and 1 more where x is not 0: the first product is a denormal.
TEST(CallMath, ElementaryFunctionsFlushAtTheirEndsOnly) {
  TestModule module(
      "declare float @__nv_exp2f(float)\n"
      "define ptx_kernel void @k(ptr %p) #0 {\n %x = load float, ptr %p\n %r = call float @__nv_exp2f(float %x)\n"
      " store float %r, ptr %p\n ret void }\nattributes #0 = { \"denormal-fp-math-f32\"=\"preserve-sign\" }\n"
      "!llvm.module.flags = !{!0}\n!0 = !{i32 4, !\"nvvm-reflect-ftz\", i32 1}");
  const std::string library =
      "define float @__nv_exp2f(float %x) section \"elementary\" { %h = fmul float %x, 0x3800000000000000\n"
      " %s = fadd float %h, %h\n %m = fmul float %s, 0x47D0000000000000\n %c = fcmp une float %x, 0.0\n"
      " %o = uitofp i1 %c to float\n %r = fadd float %m, %o\n ret float %r }";
  ASSERT_TRUE(prepare(*module, {.device_library = std::as_bytes(std::span(library))}));
  const auto kernel = module.function<void(float*)>("k");
  float x = 1;
  kernel(&x);
  EXPECT_EQ(x, 2);
  x = 0x1p-127f;
  kernel(&x);
  EXPECT_EQ(x, 0);
}

constexpr char kMultiplyAdd[] =
    "define ptx_kernel void @k(ptr %p) {\n %a = load float, ptr %p\n %m = fmul FLAGS float %a, %a\n"
    " %s = fsub FLAGS float %m, 1.0\n store float %s, ptr %p\n ret void }";

std::string with_flags(std::string text, const std::string& flags) {
  for (size_t at; (at = text.find("FLAGS")) != std::string::npos;) text.replace(at, 5, flags);
  return text;
}

TEST(Contract, FusesWhereBothAllowIt) {
  EXPECT_THAT(prepared(with_flags(kMultiplyAdd, "contract")), HasSubstr("@llvm.fma.f32"));
  EXPECT_THAT(prepared(with_flags(kMultiplyAdd, "")), Not(HasSubstr("@llvm.fma.f32")));
  EXPECT_THAT(prepared(with_flags(kMultiplyAdd, "fast")), Not(HasSubstr("fast")));
}

TEST(Contract, FusedValueIsRoundedOnce) {
  TestModule module(with_flags(kMultiplyAdd, "contract"));
  ASSERT_TRUE(prepare(*module, {}));
  float x = 1 + 0x1p-12f;
  const float expected = std::fma(x, x, -1.0f);  // oracle: the host's fma
  module.function<void(float*)>("k")(&x);
  EXPECT_EQ(x, expected);
}

TEST(Contract, AProductThatMayNotBeFusedDoesNotKeepItsEqualFromIt) {
  const std::string text = prepared(
      "define ptx_kernel void @k(ptr %p, float %a) {\n %m = fmul contract float %a, %a\n %s = fadd contract float %m, "
      "1.0\n"
      " %n = fmul float %a, %a\n %t = fadd float %n, 1.0\n store float %s, ptr %p\n %q = getelementptr float, ptr %p, "
      "i64 1\n"
      " store float %t, ptr %q\n ret void }");
  EXPECT_THAT(text, HasSubstr("@llvm.fma.f32"));
  EXPECT_THAT(text, HasSubstr("fmul float"));
}

TEST(Contract, AProductOfSeveralSumsIsFusedIntoAll) {
  const std::string text = prepared(
      "define ptx_kernel void @k(ptr %p, float %a, float %b) {\n %m = fmul contract float %a, %b\n"
      " %s = fadd contract float %m, 1.0\n %t = fsub contract float 2.0, %m\n store float %s, ptr %p\n"
      " %q = getelementptr float, ptr %p, i64 1\n store float %t, ptr %q\n ret void }");
  EXPECT_THAT(text, Not(HasSubstr("fmul")));
  EXPECT_THAT(text, Not(HasSubstr("fadd")));
}

TEST(Contract, AStatementThatMayBeFusedIs) {
  const std::string text = prepared(
      "declare float @llvm.fmuladd.f32(float, float, float)\ndeclare float @llvm.arithmetic.fence.f32(float)\n"
      "define ptx_kernel void @k(ptr %p, float %a) {\n %r = call float @llvm.fmuladd.f32(float %a, float %a, float "
      "1.0)\n"
      " %m = fmul contract float %r, %a\n %f = call float @llvm.arithmetic.fence.f32(float %m)\n"
      " %s = fadd contract float %f, 2.0\n store float %s, ptr %p\n ret void }");
  EXPECT_THAT(text, HasSubstr("@llvm.fma.f32(float %a, float %a, float 1.0"));
  EXPECT_THAT(text, HasSubstr("fmul float"));  // the fence keeps the product from the sum
  EXPECT_THAT(text, Not(HasSubstr("fence")));
}

TEST(Simplify, QuestionsToTheCompilerAreAnswered) {
  const std::string text = prepared(
      "declare i1 @llvm.is.constant.i32(i32)\ndeclare i64 @llvm.objectsize.i64.p0(ptr, i1, i1, i1)\n"
      "define ptx_kernel void @k(ptr %p, i32 %x) {\n %a = call i1 @llvm.is.constant.i32(i32 %x)\n"
      " %b = call i1 @llvm.is.constant.i32(i32 7)\n %n = call i64 @llvm.objectsize.i64.p0(ptr %p, i1 false, i1 true, "
      "i1 "
      "false)\n"
      " %c = select i1 %a, i64 1, i64 2\n %d = select i1 %b, i64 10, i64 20\n %e = add i64 %c, %d\n"
      " %s = add i64 %e, %n\n store i64 %s, ptr %p\n ret void }");
  EXPECT_THAT(text, HasSubstr("store i64 11, ptr %p"));  // 2 + 10 + "unknown", -1
}

TEST(FlushDenormals, OnlyWhereTheFunctionAsks) {
  const std::string body =
      "define ptx_kernel void @k(ptr %p) #0 { %a = load float, ptr %p\n %m = fmul float %a, 0.5\n store float %m, ptr "
      "%p\n ret void }\n";
  for (const bool flushes : {false, true}) {
    TestModule module(body + (flushes ? "attributes #0 = { \"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\" }"
                                      : "attributes #0 = { nounwind }"));
    ASSERT_TRUE(prepare(*module, {}));
    float x = -0x1p-126f;
    module.function<void(float*)>("k")(&x);
    EXPECT_EQ(x, flushes ? 0.0f : -0x1p-127f);
    EXPECT_TRUE(std::signbit(x));
  }
}

TEST(LinkDeviceLibrary, TakesWhatIsUsedAndTheModuleWins) {
  const std::string text = prepared(
      "declare float @lib_a(float)\ndefine float @lib_b(float %x) noinline { ret float 7.0 }\n"
      "define ptx_kernel void @k(ptr %p) { %x = load float, ptr %p\n %a = call float @lib_a(float %x)\n"
      " %b = call float @lib_b(float %a)\n store float %b, ptr %p\n ret void }",
      "define float @lib_a(float %x) noinline { %r = fadd float %x, 1.0\n ret float %r }\n"
      "define float @lib_b(float %x) noinline { ret float 8.0 }\ndefine float @lib_c(float %x) noinline { ret float "
      "9.0 }");
  EXPECT_THAT(text, HasSubstr("define internal float @lib_a"));
  EXPECT_THAT(text, HasSubstr("7.0"));
  EXPECT_THAT(text, Not(HasSubstr("8.0")));
  EXPECT_THAT(text, Not(HasSubstr("lib_c")));
}

TEST(LinkDeviceLibrary, SaysWhyItCannot) {
  EXPECT_THAT(prepared("@list = appending global [1 x i32] [i32 1]\ndeclare void @f()\n"
                       "define ptx_kernel void @k() { call void @f()\n ret void }",
                       "@list = appending global [1 x i64] [i64 1]\ndefine void @f() { ret void }"),
              HasSubstr("cannot be linked with module 'kir': Appending variables with different element types"));
}

TEST(LinkDeviceLibrary, IsNotReadWhereNothingIsMissing) {
  const char* const kernel =
      "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndefine ptx_kernel void @k(ptr %p) {\n"
      " %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n store i32 %t, ptr %p\n ret void }";
  EXPECT_THAT(prepared(kernel, "no library"), HasSubstr("void @k("));
}

TEST(CallRounding, DirectedRoundingIsTheLibrarys) {
  EXPECT_THAT(prepared("declare float @llvm.nvvm.add.rz.f(float, float)\n"
                       "define ptx_kernel void @k(ptr %p) { %r = call float @llvm.nvvm.add.rz.f(float 1.0, float 2.0)\n"
                       " store float %r, ptr %p\n ret void }",
                       "define float @__nv_fadd_rz(float %a, float %b) { ret float 42.0 }"),
              HasSubstr("store float 4.200000e+01"));
}

TEST(Simplify, PollingLoopStays) {
  EXPECT_THAT(
      prepared("define ptx_kernel void @k(ptr %p) mustprogress {\n br label %l\nl:\n %v = load volatile i32, ptr %p\n"
               " %c = icmp eq i32 %v, 0\n br i1 %c, label %l, label %e\ne:\n ret void }"),
      HasSubstr("load volatile"));
  EXPECT_THAT(prepared("define ptx_kernel void @k(i1 %c) mustprogress {\n br label %l\nl:\n br i1 %c, label %l, label "
                       "%e\ne:\n ret void }"),
              HasSubstr("br i1"));
}

TEST(Simplify, ValuesAreReadAnewAfterABarrier) {
  const std::string text = prepared(
      "@s = internal addrspace(3) global i32 undef\ndeclare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
      "define ptx_kernel void @k(ptr noalias %p) {\n store i32 1, ptr addrspace(3) @s\n store i32 2, ptr %p\n"
      " call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n %v = load i32, ptr addrspace(3) @s\n %w = load i32, "
      "ptr %p\n"
      " %x = add i32 %v, %w\n store i32 %x, ptr %p\n ret void }");
  EXPECT_THAT(text, HasSubstr("load i32, ptr addrspace(3) @s"));
  EXPECT_THAT(text, HasSubstr("load i32, ptr %p"));
}

TEST(Simplify, DataThatTheHostMaySetIsNotFolded) {
  EXPECT_THAT(
      prepared(
          "@c = addrspace(4) externally_initialized constant i32 5\n"
          "define ptx_kernel void @k(ptr %p) { %v = load i32, ptr addrspace(4) @c\n store i32 %v, ptr %p\n ret void }"),
      HasSubstr("load i32, ptr addrspace(4) @c"));
}

TEST(Simplify, BranchThatFeedsAShuffleStays) {
  // `float v; if (c) v = *p; shuffle(v)`: lanes without a value take part with any value, but c may be false.
  EXPECT_THAT(prepared("declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32)\n"
                       "define float @g(float noundef %v) convergent { %r = call float "
                       "@llvm.nvvm.shfl.sync.down.f32(i32 -1, float %v, i32 1, i32 31)\n ret float %r }\n"
                       "define ptx_kernel void @k(ptr %p, i1 %c) convergent {\n br i1 %c, label %t, label %j\nt:\n %a "
                       "= load float, ptr %p\n br label %j\n"
                       "j:\n %v = phi float [ %a, %t ], [ undef, %0 ]\n %r = call float @g(float noundef %v) "
                       "convergent\n store float %r, ptr %p\n ret void }"),
              HasSubstr("br i1 %c"));
}

TEST(Verify, RefusalsSayWhatAndWhere) {
  EXPECT_THAT(prepared("declare void @nowhere()\ndefine ptx_kernel void @k() { call void @nowhere()\n ret void }"),
              HasSubstr("kernel 'k' calls 'nowhere', which is defined nowhere"));
  EXPECT_THAT(prepared("@v = external global i32\ndefine ptx_kernel void @k() { store i32 1, ptr @v\n ret void }"),
              HasSubstr("variable 'v' is declared and defined nowhere"));
  EXPECT_THAT(
      prepared(
          "declare i32 @cupola.tid.x(i32)\n"
          "define ptx_kernel void @k(ptr %p) { %r = call i32 @cupola.tid.x(i32 1)\n store i32 %r, ptr %p\n ret void }"),
      HasSubstr("another type"));
}

TEST(Verify, OtherAddressSpacesAreRefusedWhereverTheyStand) {
  EXPECT_THAT(prepared("define ptx_kernel void @k(ptr addrspace(7) %p) { ret void }"),
              HasSubstr("'k' takes an address of space 7"));
  EXPECT_THAT(prepared("define ptx_kernel void @k(ptr %p) { store ptr addrspace(6) null, ptr %p\n ret void }"),
              HasSubstr("addresses of space 6"));
  EXPECT_THAT(prepared("@v = addrspace(2) global i32 1\ndefine ptx_kernel void @k(ptr %p) {\n"
                       " %v = load i32, ptr addrspace(2) @v\n store i32 %v, ptr %p\n ret void }"),
              HasSubstr("'v' lies in address space 2"));
}

TEST(Verify, IntrinsicsOutsideTheTableAreRefused) {
  EXPECT_THAT(prepared("declare float @llvm.powi.f32.i32(float, i32)\ndefine ptx_kernel void @k(ptr %p, float %x, i32 "
                       "%n) {\n %r = call float @llvm.powi.f32.i32(float %x, i32 %n)\n store float %r, ptr %p\n ret "
                       "void }"),
              HasSubstr("llvm.powi.f32.i32 is not supported"));
}

TEST(Verify, UnusedCodeIsNotRefused) {
  EXPECT_THAT(prepared("declare void @nowhere()\ndefine void @unused() { call void @nowhere()\n ret void }\n"
                       "define ptx_kernel void @k() { ret void }"),
              HasSubstr("define ptx_kernel void @k()"));
}

TEST(Intrinsics, TypesComeFromTheTable) {
  llvm::LLVMContext context;
  EXPECT_EQ(type_of(Intrinsic::Match, context)->getNumParams(), 3u);
  EXPECT_TRUE(type_of(Intrinsic::Match, context)->getParamType(2)->isIntegerTy(64));
  EXPECT_TRUE(type_of(Intrinsic::TidX, context)->params().empty());
  EXPECT_TRUE(type_of(Intrinsic::Malloc, context)->getReturnType()->isPointerTy());
}

}  // namespace
}  // namespace cupola::kir
