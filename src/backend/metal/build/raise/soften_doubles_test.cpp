#include "backend/metal/build/raise/soften_doubles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <bit>
#include <cmath>

#include "base/file.h"
#include "kir/core_intrinsics.h"
#include "kir/test_module.h"

namespace cupola::metal::build {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

uint64_t bits(double x) {
  return std::bit_cast<uint64_t>(x);
}

Result<> soften(kir::TestModule& module) {
  static const std::string library = read_file(CUPOLA_LIBRARIES "/metal.bc").value_or("");
  return soften_doubles(*module, std::as_bytes(std::span(library)));
}

/// The text's module without doubles. Tests run it.
class Softened : public kir::TestModule {
 public:
  explicit Softened(const std::string& module) : TestModule(module) {
    const Result<> softened = soften(*this);
    EXPECT_TRUE(softened) << softened.error().message;
    EXPECT_THAT(text(), Not(HasSubstr("double")));
    EXPECT_FALSE(llvm::verifyModule(**this, &llvm::errs()));
  }
};

std::string refusal(const std::string& text) {
  kir::TestModule module(text);
  const Result<> softened = soften(module);
  return softened ? "softened" : softened.error().message;
}

TEST(SoftenDoubles, LeavesWhatHasNoneAsItIs) {
  const std::string text =
      "define float @f(float %x, i64 %y) {\n  %z = fadd float %x, 1.000000e+00\n  ret float %z\n}\n";
  Softened module(text);
  EXPECT_THAT(module.text(), HasSubstr(text));
}

TEST(SoftenDoubles, LinksOnlyWhatIsUsed) {
  Softened module("define double @f(double %x) { %y = fadd double %x, 1.0\n ret double %y }");
  EXPECT_THAT(module.text(), HasSubstr("define internal i64 @cupola_f64_add(i64"));
  EXPECT_THAT(module.text(), Not(HasSubstr("cupola_f64_mul")));
  EXPECT_EQ(module.function<uint64_t(uint64_t)>("f")(bits(0.1)), bits(1.1));
}

TEST(SoftenDoubles, MakesComparisonsPartOfTheirCallers) {
  Softened module("define i1 @f(double %x, double %y) { %z = fcmp ult double %x, %y\n ret i1 %z }");
  EXPECT_THAT(module.text(), Not(HasSubstr("call")));
  EXPECT_TRUE(module.function<bool(uint64_t, uint64_t)>("f")(bits(NAN), bits(1)));
}

TEST(SoftenDoubles, CarriesDoublesThroughBranchesSelectionsAndCalls) {
  Softened module(R"(
    define internal double @square(double %x) { %y = fmul double %x, %x
      ret double %y }
    define double @f(i1 %which, double %x, double %y) {
      br i1 %which, label %left, label %right
    left:
      %a = call double @square(double %x)
      br label %end
    right:
      %b = select i1 %which, double %x, double %y
      %c = freeze double %b
      br label %end
    end:
      %d = phi double [ %a, %left ], [ %c, %right ]
      ret double %d
    }
    define double @g(ptr %callee, double %x) { %y = call double %callee(double %x)
      ret double %y }
    define double @h(double %x) { %y = call double @g(ptr @square, double %x)
      ret double %y })");
  auto* f = module.function<uint64_t(bool, uint64_t, uint64_t)>("f");
  EXPECT_EQ(f(true, bits(3), bits(7)), bits(9));
  EXPECT_EQ(f(false, bits(3), bits(7)), bits(7));
  EXPECT_EQ(module.function<uint64_t(uint64_t)>("h")(bits(1.5)), bits(2.25));
}

TEST(SoftenDoubles, KeepsMemoryItsLayout) {
  Softened module(R"(
    %pair = type { i32, double, [2 x double], <2 x double> }
    @table = internal constant [3 x double] [double 1.0, double -2.5, double 0x7FF8000000000123]
    @record = internal global %pair { i32 7, double 0.5, [2 x double] zeroinitializer, <2 x double> <double 3.0, double poison> }
    @pointer = internal global ptr getelementptr ([3 x double], ptr @table, i64 0, i64 1)
    @open = internal addrspace(3) global [4 x double] undef, align 16
    define double @element(i64 %i) {
      %p = getelementptr [3 x double], ptr @table, i64 0, i64 %i
      %x = load double, ptr %p, align 4
      ret double %x
    }
    define double @field(i64 %i) {
      %local = alloca %pair, align 16
      %whole = load %pair, ptr @record, align 16
      store %pair %whole, ptr %local, align 16
      %row = getelementptr %pair, ptr %local, i64 0, i32 2
      store double 4.0, ptr getelementptr inbounds (%pair, ptr @record, i64 0, i32 2, i64 1)
      %p = getelementptr double, ptr %local, i64 %i
      %x = load double, ptr %p
      ret double %x
    }
    define double @inside() {
      %p = load ptr, ptr @pointer
      %x = load double, ptr %p
      %y = load double, ptr getelementptr inbounds (%pair, ptr @record, i64 0, i32 2, i64 1)
      %z = fadd double %x, %y
      ret double %z
    }
    define ptr addrspace(3) @shared() { ret ptr addrspace(3) getelementptr ([4 x double], ptr addrspace(3) @open, i64 0, i64 1) })");
  EXPECT_THAT(module.text(), HasSubstr("load i64, ptr %p, align 4"));
  EXPECT_THAT(module.text(), HasSubstr("@open = internal addrspace(3) global [4 x i64] undef, align 16"));
  auto* element = module.function<uint64_t(uint64_t)>("element");
  EXPECT_EQ(element(1), bits(-2.5));
  EXPECT_EQ(element(2), 0x7ff8000000000123u);
  auto* field = module.function<uint64_t(uint64_t)>("field");
  EXPECT_EQ(field(1), bits(0.5));
  EXPECT_EQ(field(4), bits(3));
  EXPECT_EQ(module.function<uint64_t()>("inside")(), bits(1.5));
}

TEST(SoftenDoubles, KeepsKernelsWhatTheyAre) {
  Softened module(R"(
    %box = type { double, i32 }
    define ptx_kernel void @k(double %x, ptr byval(%box) align 8 %box, ptr nofree %out) nounwind !kept !1 {
      %y = load double, ptr %box
      %z = fsub double %x, %y
      store double %z, ptr %out
      ret void
    }
    !named = !{!0}
    !0 = !{ptr @k}
    !1 = !{i32 5})");
  EXPECT_THAT(module.text(),
              HasSubstr("ptx_kernel void @k(i64 %x, ptr byval(%box) align 8 %box, ptr nofree %out) #0 !kept"));
  EXPECT_THAT(module.text(), HasSubstr("!{ptr @k}"));
  EXPECT_TRUE(kir::is_kernel(*module->getFunction("k")));
}

TEST(SoftenDoubles, KeepsSourceLinesAndDropsWhatIsSaidOfFloatsOnly) {
  Softened module(R"(
    define internal nofpclass(nan) double @twice(double nofpclass(inf) %x) {
      %y = fmul nnan double %x, 2.0
      ret double %y
    }
    define double @f(double %x, i1 %which) !dbg !1 {
      %y = call nnan nofpclass(nan) double @twice(double nofpclass(inf) %x), !dbg !4
      %z = select nnan i1 %which, double %x, double %y, !dbg !4
      ret double %z, !dbg !4
    }
    !llvm.dbg.cu = !{!0}
    !llvm.module.flags = !{!5}
    !0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2, emissionKind: LineTablesOnly)
    !1 = distinct !DISubprogram(name: "f", file: !2, type: !3, unit: !0, spFlags: DISPFlagDefinition)
    !2 = !DIFile(filename: "f.cu", directory: "")
    !3 = !DISubroutineType(types: !{})
    !4 = !DILocation(line: 7, scope: !1)
    !5 = !{i32 2, !"Debug Info Version", i32 3})");
  EXPECT_THAT(module.text(), Not(HasSubstr("nofpclass")));
  EXPECT_THAT(module.text(), HasSubstr("define i64 @f(i64 %x, i1 %which) !dbg"));
  EXPECT_THAT(module.text(), HasSubstr("call i64 @twice(i64 %x), !dbg"));
  EXPECT_EQ(module.function<uint64_t(uint64_t, bool)>("f")(bits(3), false), bits(6));
}

/// Every row of core_intrinsics.def that computes with floating-point numbers.
TEST(SoftenDoubles, KnowsEveryIntrinsicThatAPreparedModuleHolds) {
  if (!read_file(CUPOLA_LIBRARIES "/c_library.bc")) GTEST_SKIP() << "the build found no libclc";
  kir::TestModule module("");
  llvm::LLVMContext& context = module->getContext();
  llvm::Type* number = llvm::Type::getDoubleTy(context);
  llvm::IRBuilder<> b(context);
  int rows = 0;
  const auto add = [&](llvm::Intrinsic::ID id, kir::CoreClass kind) {
    if (kind != kir::CoreClass::kFloat) return;
    llvm::SmallVector<llvm::Type*, 2> types = {number};
    if (id == llvm::Intrinsic::ldexp || id == llvm::Intrinsic::frexp) types.push_back(b.getInt32Ty());
    llvm::Function* intrinsic = llvm::Intrinsic::getOrInsertDeclaration(&*module, id, types);
    auto* function = llvm::Function::Create(llvm::FunctionType::get(intrinsic->getReturnType(), {number}, false),
                                            llvm::GlobalValue::ExternalLinkage, "f" + llvm::Twine(rows++), *module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
    llvm::SmallVector<llvm::Value*, 3> arguments;
    for (llvm::Type* type : intrinsic->getFunctionType()->params())
      arguments.push_back(type->isDoubleTy() ? function->getArg(0) : static_cast<llvm::Value*>(b.getInt32(1)));
    b.CreateRet(b.CreateCall(intrinsic, arguments));
  };
#define KIR_CORE(name, group) add(llvm::Intrinsic::name, kir::CoreClass::group);
#include "kir/core_intrinsics.def"
#undef KIR_CORE
  EXPECT_GE(rows, 39);
  const Result<> softened = soften(module);
  EXPECT_TRUE(softened) << softened.error().message;
  EXPECT_THAT(module.text(), Not(HasSubstr("double")));
}

TEST(SoftenDoubles, ComputesVectorsElementByElement) {
  Softened module(R"(
    declare <2 x double> @llvm.fma.v2f64(<2 x double>, <2 x double>, <2 x double>)
    declare { <2 x double>, <2 x i32> } @llvm.frexp.v2f64.v2i32(<2 x double>)
    define double @f(double %x, i64 %y) {
      %two = insertelement <2 x double> <double 2.0, double 3.0>, double %x, i32 0
      %neg = fneg <2 x double> %two
      %fused = call <2 x double> @llvm.fma.v2f64(<2 x double> %neg, <2 x double> %two, <2 x double> <double 100.0, double 50.0>)
      %swapped = shufflevector <2 x double> %fused, <2 x double> poison, <2 x i32> <i32 1, i32 0>
      %more = fcmp ogt <2 x double> %fused, %swapped
      %chosen = select <2 x i1> %more, <2 x double> %fused, <2 x double> splat (double 1.0)
      %halves = fptrunc <2 x double> %chosen to <2 x float>
      %again = fpext <2 x float> %halves to <2 x double>
      %parts = call { <2 x double>, <2 x i32> } @llvm.frexp.v2f64.v2i32(<2 x double> %again)
      %fractions = extractvalue { <2 x double>, <2 x i32> } %parts, 0
      %exponents = extractvalue { <2 x double>, <2 x i32> } %parts, 1
      %numbers = sitofp <2 x i32> %exponents to <2 x double>
      %sum = fadd <2 x double> %fractions, %numbers
      %first = extractelement <2 x double> %sum, i32 0
      %second = extractelement <2 x double> %sum, i32 1
      %all = fdiv double %first, %second
      ret double %all
    })");
  // 100 - 4*4 = 84 = 0.65625 * 2^7, and 1 = 0.5 * 2^1
  EXPECT_EQ(module.function<uint64_t(uint64_t, uint64_t)>("f")(bits(4), 0), bits(7.65625 / 1.5));
}

TEST(SoftenDoubles, UpdatesMemoryInLoopsOfCompareAndSwap) {
  Softened module(R"(
    define double @add(ptr %p, double %x) {
      %old = atomicrmw fadd ptr %p, double %x syncscope("device") monotonic, align 8
      ret double %old
    }
    define double @lower(ptr %p, double %x) {
      %old = atomicrmw volatile fmin ptr %p, double %x seq_cst
      ret double %old
    }
    define double @raise(ptr %p, double %x) {
      %old = atomicrmw fmax ptr %p, double %x acq_rel
      ret double %old
    }
    define double @exchange(ptr %p, double %x) {
      %old = atomicrmw xchg ptr %p, double %x monotonic
      ret double %old
    }
    define double @read(ptr %p) {
      %old = load atomic double, ptr %p monotonic, align 8
      ret double %old
    })");
  EXPECT_THAT(module.text(), HasSubstr("syncscope(\"device\") monotonic monotonic, align 8"));
  EXPECT_THAT(module.text(), HasSubstr("cmpxchg volatile ptr"));
  EXPECT_THAT(module.text(), HasSubstr("atomicrmw xchg ptr %p, i64 %x monotonic"));
  EXPECT_THAT(module.text(), Not(HasSubstr("atomicrmw f")));
  uint64_t cell = bits(0.1);
  using Update = uint64_t(uint64_t*, uint64_t);
  EXPECT_EQ(module.function<Update>("add")(&cell, bits(0.2)), bits(0.1));
  EXPECT_EQ(cell, bits(0.1 + 0.2));
  EXPECT_EQ(module.function<Update>("lower")(&cell, bits(NAN)), bits(0.1 + 0.2));
  EXPECT_EQ(cell, bits(0.1 + 0.2));
  EXPECT_EQ(module.function<Update>("lower")(&cell, bits(-0.0)), bits(0.1 + 0.2));
  EXPECT_EQ(module.function<Update>("raise")(&cell, bits(0.0)), bits(-0.0));
  EXPECT_EQ(module.function<Update>("exchange")(&cell, bits(8)), bits(0.0));
  EXPECT_EQ(module.function<uint64_t(uint64_t*)>("read")(&cell), bits(8));
}

TEST(SoftenDoubles, KeepsTheBitsOfWhatItMoves) {
  Softened module(R"(
    declare double @llvm.fabs.f64(double)
    declare double @llvm.copysign.f64(double, double)
    define double @f(double %x) {
      %a = fneg double %x
      %b = call double @llvm.fabs.f64(double %a)
      %c = call double @llvm.copysign.f64(double %b, double -1.0)
      ret double %c
    })");
  EXPECT_EQ(module.function<uint64_t(uint64_t)>("f")(0x7ff0000000000abc), 0xfff0000000000abcu);
}

TEST(SoftenDoubles, LinksWhatIsLeftOfTheCLibrary) {
  if (!read_file(CUPOLA_LIBRARIES "/c_library.bc")) GTEST_SKIP() << "the build found no libclc";
  Softened module(R"(
    declare double @llvm.sin.f64(double)
    declare { double, double } @llvm.sincos.f64(double)
    declare double @log1p(double)
    declare double @modf(double, ptr)
    declare double @floor(double)
    define double @sine(double %x) { %y = call double @llvm.sin.f64(double %x)
      ret double %y }
    define double @both(double %x) {
      %y = call { double, double } @llvm.sincos.f64(double %x)
      %s = extractvalue { double, double } %y, 0
      %c = extractvalue { double, double } %y, 1
      %a = fmul double %s, %s
      %b = fmul double %c, %c
      %r = fadd double %a, %b
      ret double %r
    }
    define double @log(double %x) { %y = call double @log1p(double %x)
      ret double %y }
    define double @down(double %x) { %y = call double @floor(double %x)
      ret double %y }
    define double @fraction(double %x) {
      %p = alloca double
      %y = call double @modf(double %x, ptr %p)
      %w = load double, ptr %p
      %z = fdiv double %y, %w
      ret double %z
    }
    define float @remainder(float %x, float %y) { %z = frem float %x, %y
      ret float %z })");
  for (const llvm::Function& function : *module) EXPECT_TRUE(!function.isDeclaration() || function.isIntrinsic());
  using One = uint64_t(uint64_t);
  const auto call = [&](const char* name, double x) {
    return std::bit_cast<double>(module.function<One>(name)(bits(x)));
  };
  EXPECT_DOUBLE_EQ(call("sine", 1e6), std::sin(1e6));
  EXPECT_DOUBLE_EQ(call("both", 0.7), 1);
  EXPECT_DOUBLE_EQ(call("log", 0.01), std::log1p(0.01));
  EXPECT_EQ(call("down", -1.5), -2);
  EXPECT_EQ(call("fraction", 4.5), 0.125);
  EXPECT_EQ(module.function<float(float, float)>("remainder")(1e20f, 3.f), std::fmod(1e20f, 3.f));
}

TEST(SoftenDoubles, RefusesWhatHasNoFunction) {
  EXPECT_EQ(
      refusal("declare double @tgamma(double)\n"
              "define ptx_kernel void @k(ptr %p) !dbg !1 { %x = load double, ptr %p\n"
              "%y = call double @tgamma(double %x), !dbg !4\n store double %y, ptr %p\n ret void }\n"
              "!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!5}\n"
              "!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2, emissionKind: LineTablesOnly)\n"
              "!1 = distinct !DISubprogram(name: \"k\", file: !2, type: !3, unit: !0, spFlags: DISPFlagDefinition)\n"
              "!2 = !DIFile(filename: \"gamma.cu\", directory: \"\")\n!3 = !DISubroutineType(types: !{})\n"
              "!4 = !DILocation(line: 7, scope: !1)\n!5 = !{i32 2, !\"Debug Info Version\", i32 3}\n"),
      "metal: kernel 'k' (gamma.cu:7): the function 'tgamma' of doubles is defined nowhere");
  EXPECT_EQ(refusal("define double @f(i128 %x) { %y = sitofp i128 %x to double\n ret double %y }"),
            "metal: function 'f': an integer of 128 bits is not supported for doubles");
  EXPECT_EQ(refusal("define i128 @f(double %x) { %y = fptoui double %x to i128\n ret i128 %y }"),
            "metal: function 'f': an integer of 128 bits is not supported for doubles");
  EXPECT_EQ(refusal("declare double @llvm.vector.reduce.fadd.v2f64(double, <2 x double>)\n"
                    "define double @f(<2 x double> %x) { %y = call double @llvm.vector.reduce.fadd.v2f64(double 0.0, "
                    "<2 x double> %x)\n ret double %y }"),
            "metal: function 'f': llvm.vector.reduce.fadd.v2f64 is not supported for doubles");
  EXPECT_EQ(
      refusal("define fp128 @f(double %x) { %y = fpext double %x to fp128\n ret fp128 %y }"),
      "metal: function 'f': a conversion of another format than float, half and bfloat is not supported for doubles");
}

TEST(SoftenDoubles, RefusesALibraryThatIsNone) {
  kir::TestModule module("define double @f(double %x) { %y = fadd double %x, 1.0\n ret double %y }");
  const Result<> softened = soften_doubles(*module, {});
  ASSERT_FALSE(softened);
  EXPECT_EQ(softened.error().code, ErrorCode::InvalidImage);
  EXPECT_EQ(softened.error().message, "metal: the library metal.bc lacks 'cupola_f64_add'");
}

}  // namespace
}  // namespace cupola::metal::build
