#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cuda/nvrtc/test_program.h"

// Oracle: "NVRTC, Supported Compile Options".

using cupola::nvrtc::test::Rtc;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Compiles when the condition of the preprocessor holds.
nvrtcResult when(const std::string& condition, std::initializer_list<const char*> options) {
  return Rtc("#if !(" + condition + ")\n#error no\n#endif\n").compile(options);
}

std::string ptx_of(const std::string& body, std::initializer_list<const char*> options) {
  Rtc program("extern \"C\" __global__ void k(float* x, const float* y) { " + body + " }");
  const nvrtcResult result = program.compile(options);
  return result == NVRTC_SUCCESS ? program.ptx() : program.log();
}

}  // namespace

TEST(NvrtcOptions, ValuesAreWrittenInEveryDocumentedWay) {
  EXPECT_EQ(when("N == 3", {"-DN=3"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("N == 3", {"-D=N=3"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("N == 3", {"-D N=3"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("N == 3", {"-D", "N=3"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("N == 3", {"--define-macro=N=3"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("N == 3", {"--define-macro", "N=3"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("N == 1", {"-DN"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("F(4) == 5", {"-DF(a)=a+1"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("!defined(N)", {"-DN", "-UN"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("N == 4", {"-DN=3"}), NVRTC_ERROR_COMPILATION);
}

TEST(NvrtcOptions, MacrosDoNotReachWhatIsBuiltIn) {
  Rtc program("extern \"C\" __global__ void k(x* y) { *y = sinf(T); }");
  EXPECT_EQ(program.compile({"-Dx=float", "-DT=2", "-Da=(", "-D__a=3", "-Dmin=broken"}), NVRTC_SUCCESS)
      << program.log();
}

TEST(NvrtcOptions, WhatIsNoOptionIsAnErrorThatNamesIt) {
  for (const char* option :
       {"--no-such-option", "word", "-", "", "-arch=sm_70", "-arch=sm_080", "-arch=sm_89a", "-arch=89", "--std=c++98",
        "-rdc=maybe", "-optix-ir", "--create-pch=x", "-G=3", "--maxrregcount"}) {
    Rtc program("");
    EXPECT_EQ(program.compile({option}), NVRTC_ERROR_INVALID_OPTION) << option;
    EXPECT_THAT(program.log(), HasSubstr("nvrtc: error: ")) << option;
  }
  Rtc program("");
  EXPECT_EQ(nvrtcCompileProgram(program.handle, 1, nullptr), NVRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(program.compile({nullptr}), NVRTC_ERROR_INVALID_OPTION);
}

TEST(NvrtcOptions, EveryOptionOfTheTableIsTaken) {
  for (const char* option : {"-dc",
                             "-dw",
                             "-rdc=true",
                             "-ewp",
                             "-dlto",
                             "-G",
                             "-lineinfo",
                             "-dopt=on",
                             "-ftz=true",
                             "-fmad=false",
                             "-use_fast_math",
                             "--use_fast_math",
                             "-prec-sqrt=false",
                             "-prec-div=false",
                             "-maxrregcount=32",
                             "-Xptxas=-v",
                             "-Ofc=max",
                             "--extra-device-vectorization",
                             "--modify-stack-limit=false",
                             "-jtd=50",
                             "--device-stack-protector=true",
                             "-restrict",
                             "--split-compile=0",
                             "--frandom-seed=1",
                             "--no-cache",
                             "--no-source-include",
                             "--std=c++20",
                             "-std=c++14",
                             "--builtin-move-forward=true",
                             "--builtin-initializer-list=true",
                             "-default-device",
                             "--device-int128",
                             "--minimal",
                             "--pch",
                             "--pch-dir=x",
                             "--pch-verbose=true",
                             "--pch-messages=false",
                             "--instantiate-templates-in-pch=true",
                             "-w",
                             "-Werror=all-warnings",
                             "-Wreorder",
                             "-err-no",
                             "-no-err-no",
                             "-diag-error=1",
                             "-diag-suppress=1,2",
                             "-diag-warn=1",
                             "--brief-diagnostics=true",
                             "-opt-info=inline",
                             "--fdevice-syntax-only",
                             "-I/nowhere"}) {
    Rtc program("extern \"C\" __global__ void k(int* x) { *x = 1; }");
    EXPECT_EQ(program.compile({option}), NVRTC_SUCCESS) << option << program.log();
  }
}

TEST(NvrtcOptions, AreAllInTheGuide) {
  std::ifstream file(CUPOLA_NVRTC_GUIDE);
  const std::string guide{std::istreambuf_iterator<char>(file), {}};
#define NVRTC_OPTION(long_name, short_name, kind, values, effect, why) \
  EXPECT_THAT(guide, HasSubstr("`--" long_name "`"));
#include "cuda/nvrtc/options.def"
#undef NVRTC_OPTION
}

TEST(NvrtcOptions, StandardsAreWhatIsCompiled) {
  EXPECT_EQ(when("__cplusplus == 201402L", {"--std=c++14"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("__cplusplus == 201703L", {}), NVRTC_SUCCESS);
  EXPECT_EQ(when("__cplusplus == 202002L", {"--std=c++20"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("__cplusplus == 201402L", {"--std=c++11"}), NVRTC_SUCCESS);  // the headers need it
}

TEST(NvrtcOptions, AnnounceThemselves) {
  EXPECT_EQ(when("__CUDACC_RDC__ && !defined(__CUDACC_DEBUG__)", {"-rdc=true"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("__CUDACC_DEBUG__ && !defined(__CUDACC_RDC__)", {"-G"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("__CUDACC_RTC_MINIMAL__", {"--minimal"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("__CUDACC_RTC_INT128__", {"--device-int128"}), NVRTC_SUCCESS);
  EXPECT_EQ(when("__CUDA_ARCH__ == 750", {}), NVRTC_SUCCESS);
}

TEST(NvrtcOptions, DecideHowFloatsAreComputed) {
  EXPECT_THAT(ptx_of("*x = y[0] * y[1] + y[2];", {}), HasSubstr("fma.rn.f32"));
  EXPECT_THAT(ptx_of("*x = y[0] * y[1] + y[2];", {"-fmad=false"}), Not(HasSubstr("fma.rn.f32")));
  EXPECT_THAT(ptx_of("*x = y[0] + y[1];", {"-ftz=true"}), HasSubstr("add.rn.ftz.f32"));
  EXPECT_THAT(ptx_of("*x = y[0] + y[1];", {}), HasSubstr("add.rn.f32"));
  EXPECT_THAT(ptx_of("*x = y[0] + y[1];", {"--use_fast_math"}), HasSubstr("add.rn.ftz.f32"));
}

// "NVRTC, Supported Compile Options": -prec-div=false and -prec-sqrt=false enable fast approximations, -use_fast_math
// implies both; "CUDA C++ Programming Guide, Intrinsic Functions": with it x/y is __fdividef(x, y), sinf is __sinf.
TEST(NvrtcOptions, LetQuotientsAndRootsBeApproximate) {
  const auto quotient = [](std::initializer_list<const char*> options) { return ptx_of("*x = y[0] / y[1];", options); };
  const auto root = [](std::initializer_list<const char*> options) { return ptx_of("*x = sqrtf(y[0]);", options); };
  EXPECT_THAT(quotient({}), HasSubstr("div.rn.f32"));
  EXPECT_THAT(quotient({"-prec-div=false"}), HasSubstr("div.full.f32"));
  EXPECT_THAT(quotient({"-prec-div=false", "-ftz=true"}), HasSubstr("div.full.ftz.f32"));
  EXPECT_THAT(quotient({"-prec-sqrt=false"}), HasSubstr("div.rn.f32"));
  EXPECT_THAT(quotient({"-use_fast_math"}), HasSubstr("div.approx.ftz.f32"));
  EXPECT_THAT(quotient({"-use_fast_math", "-ftz=false"}), HasSubstr("div.approx.f32"));
  EXPECT_THAT(quotient({"-use_fast_math", "-prec-div=true"}), HasSubstr("div.rn.ftz.f32"));
  EXPECT_THAT(root({}), HasSubstr("sqrt.rn.f32"));
  EXPECT_THAT(root({"-prec-sqrt=false"}), HasSubstr("sqrt.approx.f32"));
  EXPECT_THAT(root({"-prec-div=false"}), HasSubstr("sqrt.rn.f32"));
  EXPECT_THAT(root({"-use_fast_math"}), HasSubstr("sqrt.approx.ftz.f32"));
  EXPECT_THAT(root({"-use_fast_math", "-prec-sqrt=true"}), HasSubstr("sqrt.rn.ftz.f32"));
  EXPECT_THAT(ptx_of("*x = sinf(y[0]);", {"-use_fast_math"}), HasSubstr("sin.approx.ftz.f32"));
  EXPECT_THAT(ptx_of("*x = y[0] * y[1] + y[2];", {"-fmad=false", "-use_fast_math"}), HasSubstr("fma.rn.ftz.f32"));
}

TEST(NvrtcOptions, LeaveTheIntrinsicsWithARoundingExact) {
  EXPECT_THAT(ptx_of("*x = __fdiv_rn(y[0], y[1]) + __fsqrt_rn(y[2]);", {"-prec-div=false", "-prec-sqrt=false"}),
              AllOf(HasSubstr("div.rn.f32"), HasSubstr("sqrt.rn.f32")));
  EXPECT_THAT(ptx_of("double d = y[0]; *x = d / y[1] + sqrt(d);", {"-prec-div=false", "-prec-sqrt=false"}),
              AllOf(HasSubstr("div.rn.f64"), HasSubstr("sqrt.rn.f64")));
}

TEST(NvrtcOptions, LinesAreInThePtxWhenAskedFor) {
  EXPECT_THAT(ptx_of("*x = y[0];", {"-lineinfo"}), HasSubstr(".loc"));
  EXPECT_THAT(ptx_of("*x = y[0];", {}), Not(HasSubstr(".loc")));
}

TEST(NvrtcOptions, FoldersAndHeadersAreSearched) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("nvrtc-test-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "from_folder.h") << "#define HERE 1\n";
  const std::string include = "-I" + folder.string(), program_name = (folder / "program.cu").string();
  EXPECT_EQ(Rtc("#include <from_folder.h>\n").compile(), NVRTC_ERROR_COMPILATION);
  EXPECT_EQ(Rtc("#include <from_folder.h>\n").compile({include.c_str()}), NVRTC_SUCCESS);
  EXPECT_EQ(Rtc("#if !HERE\n#error\n#endif").compile({include.c_str(), "-include=from_folder.h"}), NVRTC_SUCCESS);
  EXPECT_EQ(Rtc("#include \"from_folder.h\"\n", {}, program_name.c_str()).compile(), NVRTC_SUCCESS);
  EXPECT_EQ(Rtc("#include \"from_folder.h\"\n", {}, program_name.c_str()).compile({"--no-source-include"}),
            NVRTC_ERROR_COMPILATION);
  std::filesystem::remove_all(folder);
}

TEST(NvrtcOptions, TimesGoToTheLogOrAFile) {
  Rtc program(""), refused("");
  EXPECT_EQ(program.compile({"-time=-"}), NVRTC_SUCCESS);
  EXPECT_THAT(program.log(), HasSubstr("front end, "));
  EXPECT_EQ(refused.compile({"-time=/nowhere/at/all"}), NVRTC_ERROR_TIME_FILE_WRITE_FAILED);
}
