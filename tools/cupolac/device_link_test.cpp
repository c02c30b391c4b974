// Separate compilation from end to end: programs of several files, linked in each documented way and run. Oracle: the
// numbers follow from the sources by hand; which ways there are says "CUDA Compiler Driver NVCC", chapter Using
// Separate Compilation in CUDA.

#include <gmock/gmock.h>

#include <fstream>

#include "cupolac/run.h"
#include "cupolac/shell.h"

namespace cupola::cupolac {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kShared = R"(
extern __device__ int counter;
extern __constant__ int factor;
__device__ int scale(int x);
__global__ void count_up(int* out);
template <typename T> __global__ void add_one(T* p) { *p += 1; }  // one definition from two files
)";

// `hidden` is another variable in each file. The kernel comes before main, which names it on the host.
constexpr const char* kMain = R"(
#include <cstdio>
#include "shared.h"
static __device__ int hidden = 40;
int hidden_of_device(), launch_add_one(int*);
__global__ void kernel(int* out) { out[threadIdx.x] = scale(threadIdx.x) + counter + hidden; }
int main() {
  int* p;
  cudaMallocManaged(&p, 4 * sizeof *p);
  kernel<<<1, 4>>>(p);
  cudaDeviceSynchronize();
  std::printf("%d %d %d %d\n", p[0], p[1], p[2], p[3]);
  int hundred = 100, none = 0, one = 1, now = 0;
  cudaMemcpyToSymbol(factor, &hundred, sizeof factor);
  cudaMemcpyToSymbol(counter, &one, sizeof counter);
  cudaMemcpyToSymbol(hidden, &none, sizeof hidden);
  kernel<<<1, 4>>>(p);
  cudaDeviceSynchronize();
  std::printf("%d %d %d %d\n", p[0], p[1], p[2], p[3]);
  count_up<<<1, 1>>>(p);
  add_one<<<1, 1>>>(p);
  launch_add_one(p);
  cudaDeviceSynchronize();
  cudaMemcpyFromSymbol(&now, counter, sizeof counter);
  std::printf("%d %d %d %s\n", p[0], now, hidden_of_device(), cudaGetErrorName(cudaGetLastError()));
}
)";

constexpr const char* kDevice = R"(
#include "shared.h"
static __device__ int hidden = 3;
__device__ int counter = 10;
__constant__ int factor = 2;
__device__ int scale(int x) { return x * factor + hidden; }
__global__ void count_up(int* out) { *out = atomicAdd(&counter, 5); }
int hidden_of_device() {
  int value = -1;
  cudaMemcpyFromSymbol(&value, hidden, sizeof value);
  return value;
}
int launch_add_one(int* p) {
  add_one<<<1, 1>>>(p);
  return 0;
}
)";

constexpr const char* kAnswer =
    "53 55 57 59\n"         // i * 2 + 3, 10, 40
    "4 104 204 304\n"       // i * 100 + 3, 1, 0
    "3 6 3 cudaSuccess\n";  // counter was 1, and 1 more for each add_one; then 1 + 5

class DeviceLink : public testing::Test {
 protected:
  DeviceLink() {
    write("shared.h", kShared);
    write("main.cu", kMain);
    write("device.cu", kDevice);
  }

  void write(const std::string& name, const std::string& text) { std::ofstream(scratch_.path() + "/" + name) << text; }
  /// Runs a script in the test's folder, in which $C is cupolac, up to the first command that fails.
  ShellOutput run(const std::string& script) const {
    return run_shell("cd " + scratch_.path() + "; B=" CUPOLA_BUILD_DIR "; C=$B/bin/cupolac; set -e; " + script);
  }
  void expect_answer(const std::string& script) const {
    const ShellOutput output = run(script);
    EXPECT_EQ(output.status, 0) << script;
    EXPECT_EQ(output.text, kAnswer) << script;
  }

 private:
  Scratch scratch_ = Scratch::temporary().value();
};

TEST_F(DeviceLink, FilesOfOneCommand) {
  expect_answer("$C -rdc=true main.cu device.cu -o program; ./program");
}

TEST_F(DeviceLink, ObjectsInAnyOrder) {
  expect_answer("$C -dc main.cu device.cu; $C device.o main.o -o program; ./program");
}

TEST_F(DeviceLink, StaticRuntime) {
  expect_answer("$C -dc main.cu device.cu; $C -cudart static main.o device.o -o program; ./program");
}

TEST_F(DeviceLink, ObjectOfItsOwnAndAnyHostLinker) {
  expect_answer(
      "$C -dc main.cu device.cu; $C -dlink main.o device.o -o linked.o; "
      "c++ main.o device.o linked.o -o program -L$B/lib -lcudart -lcudadevrt -Wl,-rpath,$B/lib; ./program");
}

TEST_F(DeviceLink, StaticLibraryByNameAndByPath) {
  expect_answer(
      "$C -dc main.cu device.cu; $C -lib device.o -o libdevice.a; $C main.o -L. -ldevice -o program; ./program");
  expect_answer("$C main.cu -rdc=true libdevice.a -o program; ./program");
}

TEST_F(DeviceLink, ObjectsJoinedByTheHostsLinker) {
  expect_answer("$C -dc main.cu device.cu; ld -r main.o device.o -o both.o; $C both.o -o program; ./program");
}

// What CMake's CUDA_RESOLVE_DEVICE_SYMBOLS makes: a library whose device code is linked already.
TEST_F(DeviceLink, LinkedCodeInAStaticLibraryStaysAsItIs) {
  expect_answer(
      "$C -dc main.cu device.cu; $C -dlink main.o device.o -o linked.o; $C -lib main.o device.o linked.o -o liball.a; "
      "echo 'void nothing() {}' > other.cpp; $C other.cpp -Xlinker --whole-archive liball.a "
      "-Xlinker --no-whole-archive -o program; ./program");
}

TEST_F(DeviceLink, SharedLibraryHasItsOwnDeviceCode) {
  write("use.cu", R"(
    #include <cstdio>
    static __device__ int counter = 77;  // not the library's
    __global__ void read(int* out) { *out = counter; }
    int hidden_of_device();
    int main() {
      int* p;
      cudaMallocManaged(&p, sizeof *p);
      read<<<1, 1>>>(p);
      cudaDeviceSynchronize();
      std::printf("%d %d\n", *p, hidden_of_device());
    })");
  const ShellOutput output =
      run("$C -dc -Xcompiler -fPIC device.cu; $C -shared device.o -o libdevice.so; "
          "$C -rdc=true use.cu -L. -ldevice -Xlinker -rpath=. -o program; ./program");
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text, "77 3\n");
}

TEST_F(DeviceLink, PtxIsAnInput) {
  write("scale.ptx", R"(.version 8.0
    .target sm_80
    .address_size 64
    .visible .global .align 4 .u32 counter = 10;
    .visible .const .align 4 .u32 factor = 2;
    .visible .func (.param .b32 result) _Z5scalei(.param .b32 x) {
      .reg .b32 %r<3>;
      ld.param.b32 %r1, [x];
      mul.lo.s32 %r2, %r1, 7;
      st.param.b32 [result], %r2;
      ret;
    })");
  write("use.cu", R"(
    #include <cstdio>
    __device__ int scale(int x);
    __global__ void kernel(int* out) { *out = scale(6); }
    int main() {
      int* p;
      cudaMallocManaged(&p, sizeof *p);
      kernel<<<1, 1>>>(p);
      cudaDeviceSynchronize();
      std::printf("%d\n", *p);
    })");
  const ShellOutput output = run("$C -rdc=true use.cu scale.ptx -o program; ./program");
  EXPECT_EQ(output.text, "42\n");
}

TEST_F(DeviceLink, WithoutItTheHostsLinkFailsAndNamesTheFile) {
  const ShellOutput output = run("$C -dc main.cu device.cu; c++ main.o device.o -L$B/lib -lcudart -o program");
  EXPECT_NE(output.status, 0);
  EXPECT_THAT(output.text, HasSubstr("undefined reference to `cupolac_dlink_needed_by_main_"));
}

TEST_F(DeviceLink, WhatIsDefinedNowhereOrTwiceIsNamed) {
  const ShellOutput missing = run("$C -dc main.cu; $C -dlink main.o -o linked.o");
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.text, AllOf(HasSubstr("cupolac: device link: "), HasSubstr("defined nowhere")));
  write("again.cu", "__device__ int scale(int x) { return x; }\n");
  const ShellOutput twice = run("$C -dc main.cu device.cu again.cu; $C main.o device.o again.o -o program");
  EXPECT_EQ(twice.status, 1);
  EXPECT_THAT(twice.text, AllOf(HasSubstr("_Z5scalei"), HasSubstr("multiply defined")));
}

TEST_F(DeviceLink, AThinArchivesMemberThatNoFileCanBeIsPassedOver) {
  const std::string name(300, 'n');  // longer than a file's may be
  write("thin.a", formatted("!<thin>\n{:<48}{:<10}`\n{}/\n{:<48}{:<10}`\n", "//", name.size() + 2, name, "/0", 8));
  const ShellOutput output = run("$C -dlink thin.a -o linked.o");
  EXPECT_EQ(output.status, 0) << output.text;
}

TEST_F(DeviceLink, MoreThanTheMemoryHoldsIsAnError) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer ends the program itself";
#endif
  write("large.a", "");
  const ShellOutput output = run("truncate -s 1G large.a; ulimit -v 400000; $C -dlink large.a -o linked.o");
  EXPECT_NE(output.status, 0);
  EXPECT_THAT(output.text, HasSubstr("cupolac: the host is out of memory"));
}

TEST_F(DeviceLink, NothingToLinkIsAnErrorForAFatBinaryOnly) {
  write("plain.cu", "int main() {}\n");
  EXPECT_EQ(run("$C -c plain.cu; $C -dlink plain.o -o linked.o; $C plain.o linked.o -o program; ./program").status, 0);
  const ShellOutput none = run("$C -c plain.cu; $C -dlink -fatbin plain.o -o linked.fatbin");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.text, HasSubstr("no relocatable device code"));
}

TEST_F(DeviceLink, LinkedFatBinaryHoldsKernelsOfAllFiles) {
  const ShellOutput output =
      run("$C -dc main.cu device.cu; $C -dlink -cubin main.o device.o -o all.cubin; $B/bin/cupola fatbin all.cubin; "
          "$B/bin/cupola ptx all.cubin --ptx | grep entry");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text,
              AllOf(HasSubstr("kir "), HasSubstr("ptx "), HasSubstr("_Z6kernelPi"), HasSubstr("_Z8count_upPi")));
}

// Oracle: the nvcc documentation's list of predefined macros.
TEST_F(DeviceLink, MacrosSayHowCodeIsCompiled) {
  write("macros.cu",
        "#if !defined(__NVCC__) || defined(__CUDACC_RDC__) != RDC || defined(__CUDACC_DEBUG__) != DEBUG\n"
        "#error macros\n#endif\n");
  write("macros.cpp", "#if !defined(__NVCC__) || defined(__CUDACC__)\n#error macros\n#endif\n");
  const ShellOutput output = run(
      "$C -DRDC=0 -DDEBUG=0 -c macros.cu; $C -DRDC=1 -DDEBUG=0 -dc macros.cu; $C -DRDC=0 -DDEBUG=1 -G -c macros.cu; "
      "$C -c macros.cpp");
  EXPECT_EQ(output.status, 0) << output.text;
}

TEST_F(DeviceLink, PtxTextOfAFile) {
  write("plain.cu", "__global__ void plain(int* p) { *p = 1; }\n");
  const ShellOutput output =
      run("$C -ptx -arch=sm_80 plain.cu; cat plain.ptx; $B/bin/cupola ptx plain.ptx --run "
          "_Z5plainPi --block 1 --args inout:i32:7");
  EXPECT_THAT(output.text, AllOf(HasSubstr(".target sm_80\n"), HasSubstr(".visible .entry _Z5plainPi("),
                                 HasSubstr("argument 0: 1\n")));
}

TEST_F(DeviceLink, RelocatablePtxKeepsWhatOthersCallAndDeclaresWhatTheyDefine) {
  write("part.cu",
        "extern \"C\" __device__ int theirs(int);\n"
        "extern \"C\" __device__ int ours(int x) { return theirs(x) + 1; }\n");
  const ShellOutput whole = run("$C -ptx part.cu; cat part.ptx");
  EXPECT_THAT(whole.text, Not(HasSubstr("ours")));
  const ShellOutput part = run("$C -ptx -rdc true part.cu; cat part.ptx");
  EXPECT_EQ(part.status, 0) << part.text;
  EXPECT_THAT(part.text, AllOf(HasSubstr(".visible .func  (.param .b32 func_retval0) ours("),
                               HasSubstr(".extern .func"), HasSubstr("theirs")));
}

}  // namespace
}  // namespace cupola::cupolac
