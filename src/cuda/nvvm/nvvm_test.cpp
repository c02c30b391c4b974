// libnvvm as programs call it. Oracle: "libNVVM API" for numbers and what each call refuses; what the PTX holds is the
// code's own meaning. That results run is tested where kernels are launched (tests/compilers, tests/clients).

#include <gmock/gmock.h>
#include <nvvm.h>

#include <string>
#include <thread>
#include <vector>

#include "cuda/exported_names.h"
#include "image/lto_code.h"

namespace {

using namespace cupola;
using testing::HasSubstr;
using testing::Not;

constexpr char kSaxpy[] = R"(
target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i64:64:64-i128:128:128-v16:16:16-v32:32:32-n16:32:64"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @__nv_sinf(float)
define linkonce_odr float @twice(float %x) {
  %y = fmul float %x, 2.0
  ret float %y
}
define void @saxpy(float %a, float* %x, float* %y) {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %xp = getelementptr float, float* %x, i32 %i
  %yp = getelementptr float, float* %y, i32 %i
  %xv = load float, float* %xp
  %yv = load float, float* %yp
  %p = fmul float %a, %xv
  %s = fadd float %p, %yv
  %t = call float @twice(float %s)
  store float %t, float* %yp
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (float, float*, float*)* @saxpy, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
)";

/// A program and what comes of it.
class Program {
 public:
  Program() { EXPECT_EQ(nvvmCreateProgram(&handle_), NVVM_SUCCESS); }
  explicit Program(const std::string& module) : Program() { EXPECT_EQ(add(module), NVVM_SUCCESS); }
  ~Program() { EXPECT_EQ(nvvmDestroyProgram(&handle_), NVVM_SUCCESS); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvvmResult add(const std::string& module) {
    return nvvmAddModuleToProgram(handle_, module.data(), module.size(), "module");
  }
  nvvmResult add_library(const std::string& module) {
    return nvvmLazyAddModuleToProgram(handle_, module.data(), module.size(), nullptr);
  }
  nvvmResult compile(std::vector<const char*> options = {"-arch=compute_89"}) {
    return nvvmCompileProgram(handle_, static_cast<int>(options.size()), options.data());
  }
  nvvmResult verify(std::vector<const char*> options = {}) {
    return nvvmVerifyProgram(handle_, static_cast<int>(options.size()), options.data());
  }
  std::string result() const {
    size_t size = 0;
    EXPECT_EQ(nvvmGetCompiledResultSize(handle_, &size), NVVM_SUCCESS);
    std::string text(size, '\xFF');
    EXPECT_EQ(nvvmGetCompiledResult(handle_, text.data()), NVVM_SUCCESS);
    return text;
  }
  std::string log() const {
    size_t size = 0;
    EXPECT_EQ(nvvmGetProgramLogSize(handle_, &size), NVVM_SUCCESS);
    std::string text(size, '\xFF');
    EXPECT_EQ(nvvmGetProgramLog(handle_, text.data()), NVVM_SUCCESS);
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    return text;
  }
  nvvmProgram handle() const { return handle_; }

 private:
  nvvmProgram handle_ = nullptr;
};

TEST(Nvvm, ExportsThePublicNames) {
  EXPECT_EQ(exported_names(CUPOLA_API_LIBRARY), listed_names(CUPOLA_API_NAMES));
}

TEST(Nvvm, VersionsAreThoseOfCuda13) {
  int major = 0, minor = -1, debug_major = 0, debug_minor = 0;
  EXPECT_EQ(nvvmVersion(&major, &minor), NVVM_SUCCESS);
  EXPECT_EQ(major, 2);
  EXPECT_EQ(minor, 0);
  EXPECT_EQ(nvvmIRVersion(&major, &minor, &debug_major, &debug_minor), NVVM_SUCCESS);
  EXPECT_EQ(major, 2);
  EXPECT_EQ(debug_major, 3);
  EXPECT_EQ(nvvmVersion(nullptr, &minor), NVVM_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvvmIRVersion(&major, nullptr, &debug_major, &debug_minor), NVVM_ERROR_INVALID_INPUT);
  EXPECT_STREQ(nvvmGetErrorString(NVVM_ERROR_INVALID_IR), "NVVM_ERROR_INVALID_IR");
}

TEST(Nvvm, KeepsExceptionsInside) {
  const Program program;
  const size_t more_than_there_can_be = size_t{1} << 63;  // refused before a byte is read
  EXPECT_EQ(nvvmAddModuleToProgram(program.handle(), kSaxpy, more_than_there_can_be, nullptr),
            NVVM_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(program.log(), "");  // it can still be asked: nobody holds its lock
}

TEST(Nvvm, CompilesToPtxOfTheArchitecture) {
  Program program(kSaxpy);
  ASSERT_EQ(program.compile(), NVVM_SUCCESS) << program.log();
  const std::string ptx = program.result();
  EXPECT_EQ(ptx.back(), '\0');
  EXPECT_EQ(ptx.find('\0'), ptx.size() - 1);
  EXPECT_THAT(ptx, HasSubstr(".visible .entry saxpy("));
  EXPECT_THAT(ptx, HasSubstr(".target sm_89"));
  EXPECT_THAT(ptx, HasSubstr("fma.rn.f32"));
  EXPECT_THAT(ptx, Not(HasSubstr("twice")));  // linkonce_odr, and inlined
  EXPECT_EQ(program.log(), "");
  ASSERT_EQ(program.compile({"-arch=compute_90a", "-fma=0"}), NVVM_SUCCESS) << program.log();
  EXPECT_THAT(program.result(), HasSubstr(".target sm_90a"));
  EXPECT_THAT(program.result(), Not(HasSubstr("fma.rn")));
}

TEST(Nvvm, ForDebuggingFunctionsStayForOthers) {
  Program program("define linkonce_odr i32 @f(i32 %x) {\n %y = mul i32 %x, 77\n ret i32 %y\n}\n");
  ASSERT_EQ(program.compile({"-arch=compute_89"}), NVVM_SUCCESS) << program.log();
  EXPECT_THAT(program.result(), Not(HasSubstr("77")));
  ASSERT_EQ(program.compile({"-arch=compute_89", "-g"}), NVVM_SUCCESS) << program.log();
  EXPECT_THAT(program.result(), HasSubstr(".weak .func  (.param .b32 func_retval0) f("));
}

TEST(Nvvm, FlushesWhereItIsAsked) {
  Program program(kSaxpy);
  ASSERT_EQ(program.compile({"-ftz=1", "-opt=3", "-maxreg=32", "-Ofast-compile=0"}), NVVM_SUCCESS) << program.log();
  EXPECT_THAT(program.result(), HasSubstr("fma.rn.ftz.f32"));
}

TEST(Nvvm, ApproximatesWhereItIsAsked) {
  Program program(
      "declare float @__nv_sqrtf(float)\ndeclare float @__nv_rsqrtf(float)\ndeclare float @__nv_fast_fdividef(float, "
      "float)\n"
      "define float @quotient(float %x, float %y) {\n %q = fdiv float %x, %y\n ret float %q\n}\n"
      "define float @root(float %x) {\n %r = call float @__nv_sqrtf(float %x)\n ret float %r\n}\n"
      "define float @inverse(float %x) {\n %r = call float @__nv_rsqrtf(float %x)\n ret float %r\n}\n"
      "define float @fast(float %x) {\n %r = call float @__nv_fast_fdividef(float %x, float 3.5)\n ret float %r\n}\n");
  ASSERT_EQ(program.compile({"-arch=compute_89"}), NVVM_SUCCESS) << program.log();
  EXPECT_THAT(program.result(), AllOf(HasSubstr("div.rn.f32"), HasSubstr("sqrt.rn.f32"), HasSubstr("rsqrt.approx.f32"),
                                      HasSubstr("div.approx.f32")));
  ASSERT_EQ(program.compile({"-arch=compute_89", "-prec-div=0"}), NVVM_SUCCESS) << program.log();
  EXPECT_THAT(program.result(),
              AllOf(Not(HasSubstr("div.rn.f32")), HasSubstr("div.full.f32"), HasSubstr("sqrt.rn.f32")));
  ASSERT_EQ(program.compile({"-arch=compute_89", "-prec-sqrt=0", "-ftz=1"}), NVVM_SUCCESS) << program.log();
  EXPECT_THAT(program.result(), AllOf(HasSubstr("div.rn.ftz.f32"), HasSubstr("sqrt.approx.ftz.f32"),
                                      HasSubstr("rsqrt.approx.ftz.f32"), HasSubstr("div.approx.ftz.f32")));
  EXPECT_THAT(program.result(), Not(HasSubstr("approx.f32")));
}

// As NVIDIA's libdevice does. "CUDA C++ Programming Guide, Intrinsic Functions"; "PTX ISA, tanh".
TEST(Nvvm, FastFunctionsAreTheInstructionsOfAGpu) {
  struct Case {
    const char* name;
    std::vector<std::string> plain, flushing;
  };
  const Case cases[] = {
      {"__nv_fast_sinf", {"sin.approx.f32"}, {"sin.approx.ftz.f32"}},
      {"__nv_fast_cosf", {"cos.approx.f32"}, {"cos.approx.ftz.f32"}},
      {"__nv_fast_tanf",
       {"sin.approx.f32", "cos.approx.f32", "div.approx.f32"},
       {"sin.approx.ftz.f32", "cos.approx.ftz.f32", "div.approx.ftz.f32"}},
      {"__nv_fast_tanhf", {"tanh.approx.f32"}, {"tanh.approx.f32"}},
      {"__nv_fast_expf", {"ex2.approx.f32", "0f3FB8AA3B"}, {"ex2.approx.ftz.f32", "0f3FB8AA3B"}},
      {"__nv_fast_exp10f", {"ex2.approx.f32", "0f40549A78"}, {"ex2.approx.ftz.f32", "0f40549A78"}},
      {"__nv_exp2f", {"ex2.approx.f32"}, {"ex2.approx.ftz.f32"}},
      {"__nv_fast_logf", {"lg2.approx.f32", "0f3F317218"}, {"lg2.approx.ftz.f32", "0f3F317218"}},
      {"__nv_fast_log2f", {"lg2.approx.f32"}, {"lg2.approx.ftz.f32"}},
      {"__nv_fast_log10f", {"lg2.approx.f32", "0f3E9A209B"}, {"lg2.approx.ftz.f32", "0f3E9A209B"}},
  };
  for (const Case& c : cases) {
    const std::string name = c.name;
    Program program("declare float @" + name + "(float)\ndefine float @f(float %x) {\n %r = call float @" + name +
                    "(float %x)\n ret float %r\n}\n");
    for (const auto& [options, words] : {std::pair{std::vector{"-ftz=0"}, c.plain}, {{"-ftz=1"}, c.flushing}}) {
      ASSERT_EQ(program.compile(options), NVVM_SUCCESS) << program.log();
      for (const std::string& word : words) EXPECT_THAT(program.result(), HasSubstr(word));
      EXPECT_THAT(program.result(), Not(HasSubstr("fma.rn"))) << name;
    }
  }
  Program precise(
      "declare float @__nv_sinf(float)\ndefine float @f(float %x) {\n %r = call float @__nv_sinf(float %x)\n ret "
      "float %r\n}\n");
  ASSERT_EQ(precise.compile(), NVVM_SUCCESS) << precise.log();
  EXPECT_THAT(precise.result(), Not(HasSubstr(".approx")));
}

TEST(Nvvm, LibrariesGiveWhatIsUsedAndNoMore) {
  Program program("declare i32 @used(i32)\ndefine i32 @f(i32 %x) {\n %y = call i32 @used(i32 %x)\n ret i32 %y\n}\n");
  ASSERT_EQ(program.add_library("define i32 @used(i32 %x) noinline {\n %y = mul i32 %x, 77\n ret i32 %y\n}\n"
                                "define i32 @unused(i32 %x) {\n ret i32 %x\n}\n"),
            NVVM_SUCCESS);
  ASSERT_EQ(program.compile(), NVVM_SUCCESS) << program.log();
  EXPECT_THAT(program.result(), HasSubstr("77"));
  EXPECT_THAT(program.result(), HasSubstr(".visible .func  (.param .b32 func_retval0) f("));
  EXPECT_THAT(program.result(), Not(HasSubstr("unused")));
}

TEST(Nvvm, WhatIsDefinedNowhereIsAnExtern) {
  Program program(
      "declare i32 @elsewhere(i32)\ndefine i32 @f(i32 %x) {\n %y = call i32 @elsewhere(i32 %x)\n"
      " ret i32 %y\n}\n");
  ASSERT_EQ(program.compile(), NVVM_SUCCESS) << program.log();
  EXPECT_THAT(program.result(), HasSubstr(".extern .func  (.param .b32 func_retval0) elsewhere"));
}

TEST(Nvvm, CodeForTheLinkerIsKirBehindItsMark) {
  Program program(kSaxpy);
  ASSERT_EQ(program.compile({"-arch=compute_89", "-gen-lto"}), NVVM_SUCCESS) << program.log();
  const std::string code = program.result();
  const auto kir = image::read_lto(std::as_bytes(std::span(code)));
  ASSERT_TRUE(kir);
  EXPECT_EQ(std::memcmp(kir->data(), "BC\xC0\xDE", 4), 0);
}

TEST(Nvvm, OptionsThatAreNoneAreRefused) {
  Program program(kSaxpy);
  for (const char* option : {"-numba-debug", "-arch=sm_89", "-arch=compute_x", "-arch=compute_089", "-arch", "-ftz",
                             "-ftz=2", "-opt=7", "opt=3", "-g=1"}) {
    EXPECT_EQ(program.compile({option}), NVVM_ERROR_INVALID_OPTION) << option;
    EXPECT_THAT(program.log(), HasSubstr(std::string(option).substr(std::string(option).find('=') + 1)));
    EXPECT_EQ(program.verify({option}), NVVM_ERROR_INVALID_OPTION) << option;
  }
  EXPECT_EQ(nvvmCompileProgram(program.handle(), -1, nullptr), NVVM_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvvmCompileProgram(program.handle(), 1, nullptr), NVVM_ERROR_INVALID_INPUT);
}

TEST(Nvvm, MalformedCodeIsRefusedWithItsLine) {
  Program program("define void @f() {\n %x = add i32 1, 2.0\n ret void\n}\n");
  EXPECT_EQ(program.verify(), NVVM_ERROR_INVALID_IR);
  EXPECT_THAT(program.log(), HasSubstr("line 2"));
  EXPECT_EQ(program.compile(), NVVM_ERROR_COMPILATION);
  EXPECT_THAT(program.log(), HasSubstr("line 2"));
  Program truncated(std::string("BC\xC0\xDE\x35\x14", 6));
  EXPECT_EQ(truncated.compile(), NVVM_ERROR_COMPILATION);
  EXPECT_NE(truncated.log(), "");
}

TEST(Nvvm, LibrariesAreNotVerified) {
  Program program(kSaxpy);
  ASSERT_EQ(program.add_library("this is no code"), NVVM_SUCCESS);
  EXPECT_EQ(program.verify(), NVVM_SUCCESS) << program.log();
  EXPECT_EQ(program.compile(), NVVM_ERROR_COMPILATION);
}

TEST(Nvvm, NewerCodeThanIsReadIsAMismatch) {
  Program program("define void @f() {\n ret void\n}\n!nvvmir.version = !{!0}\n!0 = !{i32 9, i32 0, i32 3, i32 1}\n");
  EXPECT_EQ(program.verify(), NVVM_ERROR_IR_VERSION_MISMATCH);
  EXPECT_THAT(program.log(), HasSubstr("9.0"));
}

TEST(Nvvm, NothingToCompileIsAnError) {
  Program program;
  EXPECT_EQ(program.compile(), NVVM_ERROR_NO_MODULE_IN_PROGRAM);
  EXPECT_EQ(program.verify(), NVVM_ERROR_NO_MODULE_IN_PROGRAM);
  EXPECT_EQ(nvvmAddModuleToProgram(program.handle(), nullptr, 3, "m"), NVVM_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvvmAddModuleToProgram(program.handle(), "x", 0, "m"), NVVM_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvvmGetCompiledResultSize(program.handle(), nullptr), NVVM_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvvmGetProgramLog(program.handle(), nullptr), NVVM_ERROR_INVALID_INPUT);
}

TEST(Nvvm, WhatIsNoProgramIsRefused) {
  int place = 0;
  auto stale = reinterpret_cast<nvvmProgram>(&place);
  size_t size = 0;
  EXPECT_EQ(nvvmCompileProgram(stale, 0, nullptr), NVVM_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvvmVerifyProgram(nullptr, 0, nullptr), NVVM_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvvmAddModuleToProgram(stale, "x", 1, nullptr), NVVM_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvvmGetCompiledResultSize(stale, &size), NVVM_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvvmDestroyProgram(&stale), NVVM_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvvmDestroyProgram(nullptr), NVVM_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvvmCreateProgram(nullptr), NVVM_ERROR_INVALID_PROGRAM);
}

TEST(Nvvm, ThreadsCompileProgramsOfTheirOwn) {
  std::vector<std::string> results(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& result : results)
      threads.emplace_back([&result] {
        Program program(kSaxpy);
        if (program.compile() == NVVM_SUCCESS) result = program.result();
      });
  }
  EXPECT_FALSE(results[0].empty());
  for (const std::string& result : results) EXPECT_EQ(result, results[0]);
}

}  // namespace
