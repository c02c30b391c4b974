#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "cuda/nvrtc/test_program.h"

// Oracles: "NVRTC" of CUDA 13.0 for codes, names and options; tests/api/nvrtc_names.txt for what libnvrtc.so.13
// exports.

using cupola::nvrtc::test::Rtc;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

constexpr char kKernel[] = "extern \"C\" __global__ void k(int* x) { *x = 1; }\n";

}  // namespace

TEST(NvrtcApi, ExportsThePublishedNames) {
  void* library = dlopen(CUPOLA_API_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  std::ifstream file(CUPOLA_API_NAMES);
  const std::vector<std::string> names{std::istream_iterator<std::string>(file), {}};
  ASSERT_GE(names.size(), 24u);
  for (const std::string& name : names) EXPECT_TRUE(dlsym(library, name.c_str())) << name;
}

TEST(NvrtcApi, LoadsNoLlvmByItself) {
  // The symbols of a library that Python opens for all must not be those of another LLVM there.
  std::ifstream file(CUPOLA_API_LIBRARY, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_THAT(bytes, HasSubstr("nvrtcCompileProgram"));
  EXPECT_THAT(bytes, Not(HasSubstr("libLLVM")));
  EXPECT_THAT(bytes, Not(HasSubstr("libclang-cpp.so")));
}

TEST(NvrtcApi, SaysItsVersionAndArchitectures) {
  int major = 0, minor = 0, count = 0;
  EXPECT_EQ(nvrtcVersion(&major, &minor), NVRTC_SUCCESS);
  EXPECT_EQ(major, 13);
  EXPECT_EQ(minor, 0);
  ASSERT_EQ(nvrtcGetNumSupportedArchs(&count), NVRTC_SUCCESS);
  std::vector<int> architectures(static_cast<size_t>(count));
  ASSERT_EQ(nvrtcGetSupportedArchs(architectures.data()), NVRTC_SUCCESS);
  EXPECT_THAT(architectures, testing::ElementsAre(75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121));
}

TEST(NvrtcApi, NamesResults) {
  EXPECT_STREQ(nvrtcGetErrorString(NVRTC_SUCCESS), "NVRTC_SUCCESS");
  EXPECT_STREQ(nvrtcGetErrorString(static_cast<nvrtcResult>(6)), "NVRTC_ERROR_COMPILATION");
  EXPECT_STREQ(nvrtcGetErrorString(static_cast<nvrtcResult>(17)), "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED");
  EXPECT_STREQ(nvrtcGetErrorString(static_cast<nvrtcResult>(1234)), "NVRTC_ERROR unknown");
}

TEST(NvrtcApi, RejectsNullAndDeadPrograms) {
  nvrtcProgram program = nullptr;
  size_t size = 0;
  EXPECT_EQ(nvrtcCreateProgram(nullptr, kKernel, "", 0, nullptr, nullptr), NVRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvrtcCreateProgram(&program, nullptr, "", 0, nullptr, nullptr), NVRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvrtcCreateProgram(&program, kKernel, "", 1, nullptr, nullptr), NVRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvrtcCreateProgram(&program, kKernel, "", -1, nullptr, nullptr), NVRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvrtcCompileProgram(nullptr, 0, nullptr), NVRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvrtcGetPTXSize(nullptr, &size), NVRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvrtcDestroyProgram(nullptr), NVRTC_ERROR_INVALID_PROGRAM);
  ASSERT_EQ(nvrtcCreateProgram(&program, kKernel, nullptr, 0, nullptr, nullptr), NVRTC_SUCCESS);
  nvrtcProgram again = program;
  EXPECT_EQ(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(nvrtcDestroyProgram(&again), NVRTC_ERROR_INVALID_PROGRAM);
}

TEST(NvrtcApi, KeepsTheOrderOfCalls) {
  Rtc program(kKernel);
  size_t size = 0;
  const char* name = nullptr;
  EXPECT_EQ(nvrtcGetPTXSize(program.handle, &size), NVRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvrtcGetLoweredName(program.handle, "k", &name), NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
  EXPECT_EQ(nvrtcAddNameExpression(program.handle, nullptr), NVRTC_ERROR_INVALID_INPUT);
  ASSERT_EQ(program.compile_naming({"k"}), NVRTC_SUCCESS) << program.log();
  EXPECT_EQ(nvrtcAddNameExpression(program.handle, "k"), NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
  EXPECT_EQ(nvrtcGetLoweredName(program.handle, "l", &name), NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
  EXPECT_EQ(program.lowered("k"), "k");
}

TEST(NvrtcApi, KeepsExceptionsInside) {
  Rtc program(kKernel);
  ASSERT_EQ(nvrtcSetFlowCallback(
                program.handle, [](void*, void*) -> int { throw std::runtime_error("no"); }, nullptr),
            NVRTC_SUCCESS);
  EXPECT_EQ(program.compile(), NVRTC_ERROR_INTERNAL_ERROR);
  EXPECT_EQ(program.log(), "");  // it can still be asked: nobody holds its lock
}

TEST(NvrtcApi, AnswersForWhatIsNotMade) {
  Rtc program(kKernel);
  ASSERT_EQ(program.compile(), NVRTC_SUCCESS);
  size_t size = 0;
  EXPECT_EQ(nvrtcGetOptiXIRSize(program.handle, &size), NVRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvrtcGetPCHCreateStatus(program.handle), NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED);
  EXPECT_EQ(nvrtcGetPCHHeapSizeRequired(program.handle, &size), NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED);
  EXPECT_EQ(nvrtcSetPCHHeapSize(123), NVRTC_SUCCESS);
  EXPECT_EQ(nvrtcGetPCHHeapSize(&size), NVRTC_SUCCESS);
  EXPECT_EQ(size, 123u);
}

TEST(NvrtcResults, PtxIsForTheArchitecture) {
  Rtc program(kKernel);
  ASSERT_EQ(program.compile({"--gpu-architecture=compute_80"}), NVRTC_SUCCESS) << program.log();
  EXPECT_THAT(program.ptx(), HasSubstr(".target sm_80"));
  EXPECT_THAT(program.ptx(), HasSubstr(".visible .entry k("));
  EXPECT_EQ(program.cubin(), "");  // a virtual architecture has none
  EXPECT_EQ(program.log(), "");
}

TEST(NvrtcResults, EachSupportedArchitectureHasPtx) {
  for (const char* number :
       {"75", "80", "86", "87", "88", "89", "90", "90a", "100", "100a", "100f", "103", "110", "120", "121", "121a"}) {
    Rtc program("extern \"C\" __global__ void k(int* x) { *x = __CUDA_ARCH__; }");
    const std::string option = std::string("-arch=sm_") + number;
    ASSERT_EQ(program.compile({option.c_str()}), NVRTC_SUCCESS) << number << program.log();
    EXPECT_THAT(program.ptx(), HasSubstr(std::string(".target sm_") + number));
    EXPECT_THAT(program.ptx(), HasSubstr(std::to_string(std::atoi(number) * 10) + ";"));
  }
}

TEST(NvrtcResults, CubinIsAFatBinaryAndLtoIrIsMarkedKir) {
  Rtc program(kKernel);
  ASSERT_EQ(program.compile({"-arch=sm_89"}), NVRTC_SUCCESS) << program.log();
  EXPECT_THAT(program.cubin(), StartsWith("\x50\xed\x55\xba"));  // docs/fatbin.md
  EXPECT_THAT(program.cubin(), HasSubstr(".visible .entry k("));
  EXPECT_EQ(program.ltoir(), "");
  Rtc lto(kKernel);
  ASSERT_EQ(lto.compile({"-arch=sm_89", "-dlto"}), NVRTC_SUCCESS) << lto.log();
  EXPECT_THAT(lto.ltoir(), StartsWith("\xED\x43\x4E\x7F"  // image/lto_code.h
                                      "cupoBC\xC0\xDE"));
  EXPECT_EQ(lto.cubin(), "");
}

TEST(NvrtcResults, RelocatableCodeKeepsWhatOthersCall) {
  const char* source = "extern \"C\" __device__ int f(int x) { return x + 1; }";
  Rtc whole(source), relocatable(source);
  ASSERT_EQ(whole.compile(), NVRTC_SUCCESS);
  EXPECT_THAT(whole.ptx(), Not(HasSubstr(".func")));
  ASSERT_EQ(relocatable.compile({"-rdc=true"}), NVRTC_SUCCESS) << relocatable.log();
  EXPECT_THAT(relocatable.ptx(), HasSubstr(".visible .func"));
}

TEST(NvrtcResults, ASecondCompilationReplacesTheFirst) {
  Rtc program("extern \"C\" __global__ void k(int* x) { *x = N; }");
  EXPECT_EQ(program.compile(), NVRTC_ERROR_COMPILATION);
  EXPECT_THAT(program.log(), HasSubstr("t.cu(1): error: "));
  EXPECT_EQ(program.compile({"-DN=4711"}), NVRTC_SUCCESS);
  EXPECT_EQ(program.log(), "");
  EXPECT_THAT(program.ptx(), HasSubstr("4711"));
}

TEST(NvrtcLog, NamesFileAndLine) {
  Rtc program("#include \"a.h\"\n__global__ void k(int* x) {\n  *x = y;\n}\n", {{"a.h", "\n#warning careful\n"}},
              "some/k.cu");
  EXPECT_EQ(program.compile(), NVRTC_ERROR_COMPILATION);
  EXPECT_THAT(program.log(), HasSubstr("a.h(2): warning: careful\n"));
  EXPECT_THAT(program.log(),
              HasSubstr("some/k.cu(3): error: use of undeclared identifier 'y'\n    *x = y;\n         ^\n"));
  EXPECT_THAT(program.log(), HasSubstr("1 error detected in the compilation of \"some/k.cu\".\n"));
}

TEST(NvrtcLog, ProgramsWithoutANameAreTheDefaultProgram) {
  Rtc program("!", {}, nullptr);
  EXPECT_EQ(program.compile(), NVRTC_ERROR_COMPILATION);
  EXPECT_THAT(program.log(), StartsWith("default_program(1): error: "));
}

TEST(NvrtcLog, WarningsAreOffOrErrorsWhenAskedFor) {
  const char* source = "#warning careful\n";
  Rtc warned(source), quiet(source), strict(source);
  EXPECT_EQ(warned.compile(), NVRTC_SUCCESS);
  EXPECT_THAT(warned.log(), HasSubstr("t.cu(1): warning: careful"));
  EXPECT_EQ(quiet.compile({"-w"}), NVRTC_SUCCESS);
  EXPECT_EQ(quiet.log(), "");
  EXPECT_EQ(strict.compile({"-Werror", "all-warnings"}), NVRTC_ERROR_COMPILATION);
}

TEST(NvrtcHeaders, AreFoundInMemoryByName) {
  const char* source =
      "#include \"a.h\"\n#include <sub/b.h>\nextern \"C\" __global__ void k(int* x) { *x = A + B + C; }\n";
  Rtc program(source, {{"a.h", "#define A 1000\n"},
                       {"sub/b.h", "#include \"c.h\"\n#include \"../up.h\"\n"},
                       {"sub/c.h", "#define C 20\n"},
                       {"up.h", "#define B 3\n"}});
  ASSERT_EQ(program.compile(), NVRTC_SUCCESS) << program.log();
  EXPECT_THAT(program.ptx(), HasSubstr("1023"));
}

TEST(NvrtcHeaders, InMemoryComeBeforeTheBuiltIn) {
  Rtc program("#include <cuda_fp16.h>\n__global__ void k(int* x) { *x = MINE; }",
              {{"cuda_fp16.h", "#define MINE 7\n"}});
  EXPECT_EQ(program.compile(), NVRTC_SUCCESS) << program.log();
}

TEST(NvrtcHeaders, ThatAreNotThereAreErrors) {
  Rtc program("#include \"nowhere.h\"\n");
  EXPECT_EQ(program.compile(), NVRTC_ERROR_COMPILATION);
  EXPECT_THAT(program.log(), HasSubstr("t.cu(1): catastrophic error: 'nowhere.h' file not found"));
}

TEST(NvrtcHeaders, OfCudaNeedNoFolder) {
  for (const char* header : {"cuda_fp16.h",
                             "cuda_bf16.h",
                             "cuda_fp8.h",
                             "cooperative_groups.h",
                             "cooperative_groups/reduce.h",
                             "mma.h",
                             "curand_kernel.h",
                             "cuda_runtime.h",
                             "cuComplex.h",
                             "math_constants.h",
                             "cuda_pipeline.h",
                             "vector_types.h",
                             "cuda.h",
                             "cuda/atomic",
                             "stdint.h",
                             "cstdint",
                             "cmath",
                             "cassert",
                             "limits.h",
                             "float.h",
                             "stdio.h"}) {
    Rtc program("#include <" + std::string(header) + ">\n__global__ void k(int* x) { *x = 1; }");
    EXPECT_EQ(program.compile(), NVRTC_SUCCESS) << header << program.log();
  }
}

TEST(NvrtcNames, OfTheDocumentation) {
  // The names of "NVRTC, Accessing Lowered Names".
  const char* source = R"(
    __device__ int V1;
    static __global__ void f1(int* result) { *result = V1 + 10; }
    namespace N1 { namespace N2 {
      __constant__ int V2;
      __global__ void f2(int* result) { *result = V2 + 20; }
    } }
    template <typename T> __global__ void f3(int* result) { *result = sizeof(T); })";
  Rtc program(source);
  ASSERT_EQ(program.compile_naming({"&f1", "N1::N2::f2", "f3<int>", "f3<double>", "&V1", "&N1::N2::V2"}), NVRTC_SUCCESS)
      << program.log();
  // Itanium's C++ ABI has these names for all but the internal one.
  EXPECT_EQ(program.lowered("N1::N2::f2"), "_ZN2N12N22f2EPi");
  EXPECT_EQ(program.lowered("f3<int>"), "_Z2f3IiEvPi");
  EXPECT_EQ(program.lowered("f3<double>"), "_Z2f3IdEvPi");
  EXPECT_EQ(program.lowered("&V1"), "V1");
  EXPECT_EQ(program.lowered("&N1::N2::V2"), "_ZN2N12N22V2E");
  for (const char* name : {"&f1", "f3<int>", "f3<double>"})
    EXPECT_THAT(program.ptx(), HasSubstr(".visible .entry " + program.lowered(name) + "("));
  EXPECT_THAT(program.ptx(), HasSubstr(".visible .const .align 4 .u32 _ZN2N12N22V2E"));
  EXPECT_THAT(program.ptx(), Not(HasSubstr("__cupola_named")));
}

TEST(NvrtcNames, OfInternalAndOverloadedThings) {
  const char* source = R"(
    namespace { template <typename T> __global__ void hidden(T* x) { *x = T(1); } }
    static __device__ int counter;
    __global__ void twice(int* x) { *x = 1; }
    __global__ void twice(float* x) { *x = 2; })";
  Rtc program(source);
  ASSERT_EQ(program.compile_naming({"hidden<float>", "counter", "(void (*)(float*))twice"}), NVRTC_SUCCESS)
      << program.log();
  EXPECT_EQ(program.lowered("(void (*)(float*))twice"), "_Z5twicePf");
  EXPECT_THAT(program.ptx(), HasSubstr(".visible .entry " + program.lowered("hidden<float>") + "("));
  EXPECT_THAT(program.ptx(), HasSubstr(" " + program.lowered("counter")));
}

namespace named {
template <typename T>
struct Pair {};
}  // namespace named

TEST(NvrtcNames, OfTypesMakeNameExpressions) {
  std::string name;
  ASSERT_EQ(nvrtcGetTypeName<named::Pair<const int&>>(&name), NVRTC_SUCCESS);
  EXPECT_EQ(name, "named::Pair<int const&>");
  ASSERT_EQ(nvrtcGetTypeName<const volatile float>(&name), NVRTC_SUCCESS);
  EXPECT_EQ(name, "float const volatile");
  ASSERT_EQ(nvrtcGetTypeName(typeid(unsigned long), &name), NVRTC_SUCCESS);
  EXPECT_EQ(name, "unsigned long");
  EXPECT_EQ(nvrtcGetTypeName<int>(nullptr), NVRTC_ERROR_INVALID_INPUT);
}

TEST(NvrtcNames, ThatAreNoneAreErrors) {
  Rtc program(kKernel);
  EXPECT_EQ(program.compile_naming({"nothing<int>"}), NVRTC_ERROR_COMPILATION);
  EXPECT_THAT(program.log(), HasSubstr("name expression(1): error: use of undeclared identifier 'nothing'"));
  Rtc number(kKernel);
  EXPECT_EQ(number.compile_naming({"(3 + 4)"}), NVRTC_ERROR_COMPILATION);
  EXPECT_THAT(number.log(), HasSubstr("names no function and no variable"));
}

TEST(NvrtcLanguage, WhatIsBuiltInNeedsNoHeader) {
  const char* source = R"(
    struct Item { int value; __device__ Item(int v) : value(v) {} };
    extern "C" __global__ void k(double* d, float* f, int* i, cudaTextureObject_t texture) {
      size_t bytes = sizeof(dim3); ptrdiff_t step = 1; clock_t now = clock();
      d[0] = sin(d[1]) + pow(d[1], 2.0) + rsqrt(d[2]) + std::sqrt(d[3]);
      f[0] = __expf(f[1]) + fminf(f[1], f[2]) + min(f[1], f[2]) + tex2D<float>(texture, 1.f, 2.f);
      i[0] = __popc(i[1]) + __shfl_sync(0xffffffff, i[2], 3) + atomicAdd(i, 1) + (int)bytes + (int)step + (int)now;
      __syncthreads();
      float4 v = make_float4(1, 2, 3, 4);
      f[3] = v.x + warpSize;
      if (isnan(f[0])) printf("not a number: %d\n", threadIdx.x);
      assert(i[0] != 7);
      memcpy(i, i + 4, 16);
      Item* item = new Item(3);
      char place[8];
      new (place) Item(4);
      i[1] = std::move(item->value);
      delete item;
      std::initializer_list<int> list = {1, 2};
      i[2] = list.size();
    })";
  Rtc program(source);
  EXPECT_EQ(program.compile(), NVRTC_SUCCESS) << program.log();
}

TEST(NvrtcLanguage, ProgramsDefineWhatNvrtcDoesNot) {
  const char* source = R"(
    typedef long long int64_t; typedef unsigned char uint8_t;
#define INT_MAX 3
#define NAN 4
    namespace std { template <class T> struct numeric_limits { static constexpr T max() { return 9; } }; }
    struct complex { float x; };
    extern "C" __global__ void k(int64_t* x) { *x = INT_MAX + NAN + std::numeric_limits<int>::max(); })";
  Rtc program(source);
  ASSERT_EQ(program.compile(), NVRTC_SUCCESS) << program.log();
  EXPECT_EQ(program.log(), "");
}

TEST(NvrtcLanguage, MacrosSayWhoCompiles) {
  const char* source = R"(
#if !defined(__CUDACC_RTC__) || !defined(__CUDACC__) || __CUDACC_VER_MAJOR__ != 13 || __cplusplus != 201703L
#error "not NVRTC 13 with C++17"
#endif
#if defined(__clang__) || defined(__GNUC__) || defined(__NVCC__)
#error "another compiler"
#endif
)";
  Rtc program(source);
  EXPECT_EQ(program.compile(), NVRTC_SUCCESS) << program.log();
}

TEST(NvrtcLanguage, UnmarkedFunctionsAreTheHostsUnlessToldOtherwise) {
  const char* source = R"(
    int global_value = 3;
    namespace n { constexpr int four = 4; __constant__ int five; }
    struct S { int x; int get() { return x; } };
    int f(int x) { return x + global_value; }
    template <class T> T g(T x) { return x + n::four; }
    extern __shared__ int shared[];
    extern "C" __global__ void k(int* x) {
      S s; s.x = f(2);
      auto h = [](int y) { return y + 1; };
      *x = s.get() + g(3) + h(4) + shared[0] + n::five;
    })";
  Rtc host(source), device(source);
  EXPECT_EQ(host.compile(), NVRTC_ERROR_COMPILATION);
  EXPECT_THAT(host.log(), HasSubstr("__host__ function"));
  EXPECT_EQ(device.compile({"-default-device"}), NVRTC_SUCCESS) << device.log();
}

TEST(NvrtcThreads, CompileAtTheSameTime) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&right, i] {
      for (int j = 0; j < 3; ++j) {
        const std::string number = std::to_string(1000 + 10 * i + j);
        Rtc program("extern \"C\" __global__ void k(int* x) { *x = " + number + "; }");
        const char* option = i % 2 ? "-arch=sm_80" : "-arch=sm_90";
        if (program.compile({option}) == NVRTC_SUCCESS && program.ptx().contains(number)) ++right;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 24);
}

TEST(NvrtcFlow, ACallbackCancels) {
  Rtc program(kKernel);
  int calls = 0;
  const auto cancel = [](void* payload, void*) { return ++*static_cast<int*>(payload) == 2 ? 1 : 0; };
  ASSERT_EQ(nvrtcSetFlowCallback(program.handle, cancel, &calls), NVRTC_SUCCESS);
  EXPECT_EQ(program.compile(), NVRTC_ERROR_CANCELLED);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(program.compile(), NVRTC_SUCCESS);  // it cancels once
}

TEST(NvrtcRobustness, SourcesThatNobodyWrites) {
  const std::string parentheses(100'000, '('), braces(100'000, '{');
  std::string sum = "__global__ void k(int* x) { *x = x[1]";
  for (int i = 0; i < 20'000; ++i) sum += " + x[1]";
  Rtc deep(sum + "; }");
  EXPECT_EQ(deep.compile(), NVRTC_SUCCESS);
  EXPECT_EQ(deep.log(), "");
  const std::string sources[] = {
      "__global__ void k(int* x) { *x = " + parentheses + "1; }",
      "__global__ void k() " + braces,
      "template <int N> struct S { static constexpr int v = S<N + 1>::v; };\n__device__ int v = S<0>::v;",
      "constexpr int f(int n) { return f(n + 1); }\n__device__ int v = f(0);",
      "#include \"self.h\"\n",
      std::string("int \xff\xfe\x80 = 0;"),
      "\"",
      "/*",
      "#define F(x) F(x\nF(1)",
  };
  for (const std::string& source : sources) {
    Rtc program(source, {{"self.h", "#include \"self.h\"\n"}});
    EXPECT_EQ(program.compile(), NVRTC_ERROR_COMPILATION) << source.substr(0, 60);
    EXPECT_NE(program.log(), "");
  }
}
