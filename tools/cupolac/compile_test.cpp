// cupolac from end to end: what it writes, prints and returns. What compiled programs compute is tested under tests/.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cupolac/lists.h"
#include "cupolac/run.h"
#include "cupolac/shell.h"
#include "image/fatbin.h"

namespace cupola::cupolac {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSquare = R"(
#include "square.h"
__global__ void square(int* values) { values[threadIdx.x] *= SCALE * values[threadIdx.x]; }
int main() { square<<<1, 8>>>(nullptr); }
)";

class Compile : public testing::Test {
 protected:
  Compile() {
    write("square.cu", kSquare);
    write("square.h", "#define SCALE 1\n");
  }

  void write(const std::string& name, const std::string& text) { std::ofstream(path(name)) << text; }
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  bool exists(const std::string& name) const { return fs::exists(path(name)); }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// Runs cupolac in the test's folder; `before` is for the environment.
  ShellOutput cupolac(const std::string& arguments, const std::string& before = "") const {
    return run_shell("cd " + scratch_.path() + " && " + before + " " CUPOLA_BUILD_DIR "/bin/cupolac " + arguments);
  }

 private:
  Scratch scratch_ = Scratch::temporary().value();
};

TEST_F(Compile, MakesAProgramThatFindsItsLibraries) {
  const ShellOutput output = cupolac("square.cu -o square");
  ASSERT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(output.text, "");
  const ShellOutput loaded = run_shell("ldd " + path("square"));
  EXPECT_THAT(loaded.text, HasSubstr("libcudart.so.13 => " CUPOLA_BUILD_DIR "/lib/libcudart.so.13"));
}

TEST_F(Compile, LinksTheStaticRuntime) {
  const ShellOutput output = cupolac("-cudart static square.cu -o square");
  ASSERT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(run_shell("ldd " + path("square")).text, Not(HasSubstr("libcudart")));
}

TEST_F(Compile, FatbinHoldsKirAndPtxForTheArchitecture) {
  ASSERT_EQ(cupolac("-fatbin -arch=sm_80 square.cu").status, 0);
  const std::string bytes = read("square.fatbin");
  auto entries = image::read_fatbin(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 2u);
  const auto code = [&](size_t i) {
    const std::span<const std::byte> bytes_of_it = (*entries)[i].payload;
    return std::string(reinterpret_cast<const char*>(bytes_of_it.data()), bytes_of_it.size());
  };
  EXPECT_EQ((*entries)[0].kind, image::FatbinKind::Kir);
  EXPECT_EQ((*entries)[0].sm, 80u);
  EXPECT_EQ(code(0).substr(0, 2), "BC");  // LLVM bitcode's magic
  EXPECT_THAT(code(0), HasSubstr("_Z6squarePi"));
  EXPECT_EQ((*entries)[1].kind, image::FatbinKind::Ptx);
  EXPECT_EQ((*entries)[1].sm, 80u);
  EXPECT_THAT(code(1), AllOf(HasSubstr(".target sm_80\n"), HasSubstr(".visible .entry _Z6squarePi(")));
}

TEST_F(Compile, AMetallibOfEachForm) {
  ASSERT_EQ(cupolac("--device=metal square.cu").status, 0);  // the name by default
  const std::string library = read("square.metallib");
  EXPECT_EQ(library.substr(0, 4), "MTLB");
  EXPECT_THAT(library, HasSubstr("kernel__Z6squarePi"));
  ASSERT_EQ(cupolac("--device metal square.cu -o other.metallib").status, 0);
  EXPECT_EQ(read("other.metallib"), library);
  ASSERT_EQ(cupolac("-ptx square.cu").status, 0);
  ASSERT_EQ(cupolac("-fatbin square.cu").status, 0);
  for (const char* input : {"square.ptx", "square.fatbin"}) {
    ASSERT_EQ(cupolac(std::string("--device=metal -o of.metallib ") + input).status, 0) << input;
    EXPECT_THAT(read("of.metallib"), HasSubstr("kernel__Z6squarePi")) << input;
  }
  write("k.ll", "define ptx_kernel void @k() {\n  ret void\n}\n");
  ASSERT_EQ(cupolac("--device=metal k.ll").status, 0);
  EXPECT_THAT(read("k.metallib"), HasSubstr("kernel_k"));
}

TEST_F(Compile, AMetallibIsRefusedWithItsReason) {
  write("clock.cu", "__global__ void k(long long* out) {\n  *out = clock64();\n}\n");
  const ShellOutput clock = cupolac("--device=metal clock.cu");
  EXPECT_EQ(clock.status, 1);
  EXPECT_THAT(clock.text, AllOf(HasSubstr("clock.cu:2"), HasSubstr("Metal has no clock that a kernel can read")));
  EXPECT_FALSE(exists("clock.metallib"));
  write("of_apple.metal", "kernel void k() {}\n");
  EXPECT_THAT(cupolac("--device=metal of_apple.metal", "PATH=/nowhere").text, HasSubstr("needs a Mac with Xcode"));
  EXPECT_THAT(cupolac("of_apple.metal").text, HasSubstr("--device=metal, on a Mac with Xcode, takes it"));
  EXPECT_THAT(cupolac("--device=cpu square.cu").text, HasSubstr("the value must be one of metal"));
  EXPECT_THAT(cupolac("--device=metal -rdc=true square.cu").text, HasSubstr("leave -rdc=true out"));
  EXPECT_THAT(cupolac("--device=metal square.h -x c++").text, HasSubstr("has no device code"));
}

// Oracle: nvcc 13.0, which ends with an error for the first two ("Unresolved extern function"), and takes the third.
TEST_F(Compile, DeviceCodeOfOtherFilesNeedsRdc) {
  write("calls.cu", "extern __device__ float f(float);\n__global__ void k(float* p) { *p = f(*p); }\nint main() {}\n");
  write("reads.cu", "extern __device__ int v;\n__global__ void k(int* p) { *p = v; }\nint main() {}\n");
  write("declares.cu", "extern __device__ int v, f(int);\n__global__ void k(int* p) { *p = 1; }\nint main() {}\n");
  for (const std::string goal : {"", " -c", " -cubin"}) {
    const ShellOutput calls = cupolac("calls.cu -o out" + goal), reads = cupolac("reads.cu -o out" + goal);
    EXPECT_EQ(calls.status, 1);
    EXPECT_THAT(calls.text, AllOf(HasSubstr("'f(float)', which is defined nowhere"), HasSubstr("-rdc=true")));
    EXPECT_EQ(reads.status, 1);
    EXPECT_THAT(reads.text, HasSubstr("the variable 'v' is declared and defined nowhere"));
    EXPECT_FALSE(exists("out"));
  }
  for (const std::string file : {"declares.cu", "-rdc=true -c calls.cu", "-rdc=true -c reads.cu"})
    EXPECT_EQ(cupolac(file + " -o taken").text, "");
}

TEST_F(Compile, InlinePtxThatIsNoneIsAnErrorOfTheCompiler) {
  write("asm.cu", "__global__ void k(int* p) {\n  asm(\"addd.s32 %0, %0, 1;\" : \"+r\"(*p));\n}\nint main() {}\n");
  const ShellOutput output = cupolac("asm.cu");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, AllOf(HasSubstr("kernel 'k(int*)'"), HasSubstr("'addd' is not an instruction of PTX")));
}

// A stand-in for Apple's compiler, which keeps its words.
TEST_F(Compile, MetalsSourceGoesToApplesCompiler) {
  write("k.metal", "kernel void k() {}\n");
  fs::create_directory(path("xcode"));
  write("xcode/xcrun", "#!/bin/sh\necho \"$@\"\ncp k.metal \"$7\"\n");
  fs::permissions(path("xcode/xcrun"), fs::perms::owner_all);
  const ShellOutput made = cupolac("--device=metal k.metal", "PATH=" + path("xcode") + ":$PATH");
  EXPECT_EQ(made.text, "-sdk macosx metal -fno-fast-math k.metal -o k.metallib\n");
  EXPECT_EQ(read("k.metallib"), "kernel void k() {}\n");
}

TEST_F(Compile, FatbinGoesWithoutPtxWhereNoneCanBeMade) {
  write("j.cu", "#include <cooperative_groups.h>\n__global__ void j() { cooperative_groups::this_grid().sync(); }\n");
  const ShellOutput output = cupolac("-v -fatbin j.cu");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("note: no PTX in 'j.fatbin': kir: function 'cooperative_groups::"));
  EXPECT_THAT(output.text, HasSubstr("cupola.grid.sync is Cupola's own; PTX has nothing for it"));
  const std::string bytes = read("j.fatbin");
  const auto entries = image::read_fatbin(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(entries->size(), 1u);
}

TEST_F(Compile, ObjectsLibrariesAndSharedLibraries) {
  write("main.cpp", "void launch();\nint main() { if (false) launch(); }\n");
  write("launch.cu", "__global__ void nothing() {}\nvoid launch() { nothing<<<1, 1>>>(); }\n");
  const ShellOutput output = cupolac(
      "-t 2 -c launch.cu main.cpp && $C launch.o main.o -o from_objects && $C -lib launch.cu -o liblaunch.a && "
      "$C main.cpp -L. -llaunch -o from_archive && $C -shared -Xcompiler -fPIC launch.cu -o liblaunched.so && "
      "$C main.cpp -L. -llaunched -Xlinker -rpath=. -o from_shared && ./from_shared",
      "C=" CUPOLA_BUILD_DIR "/bin/cupolac;");
  EXPECT_EQ(output.status, 0) << output.text;
  for (const char* name : {"from_objects", "from_archive", "from_shared"}) EXPECT_TRUE(exists(name)) << name;
}

TEST_F(Compile, DependencyRuleNamesHeaders) {
  ASSERT_EQ(cupolac("-MD -c square.cu -o square.o").status, 0);
  EXPECT_THAT(read("square.d"),
              AllOf(HasSubstr("square.o: square.cu"), HasSubstr("square.h"), HasSubstr("cuda_runtime.h")));
  ASSERT_EQ(cupolac("-MM square.cu -o user.d").status, 0);
  EXPECT_THAT(read("user.d"), AllOf(HasSubstr("square.h"), Not(HasSubstr("cuda_runtime.h"))));
}

TEST_F(Compile, KeepsWhatLiesBetweenTheSteps) {
  ASSERT_EQ(cupolac("-keep -keep-dir between square.cu -o square").status, 0);
  for (const char* name : {"between/square.kir.bc", "between/square.fatbin", "between/square.o"})
    EXPECT_TRUE(exists(name)) << name;
}

TEST_F(Compile, DryRunPrintsTheStepsAndRunsNone) {
  const ShellOutput output = cupolac("-### square.cu -o square");
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.text, AllOf(HasSubstr("--cuda-device-only"), HasSubstr("--pack-fatbin"),
                                 HasSubstr("--cuda-host-only"), HasSubstr("-lcudart")));
  EXPECT_FALSE(exists("square"));
}

TEST_F(Compile, ErrorsOfClangAndItsStatusComeThrough) {
  write("wrong.cu", "__global__ void wrong() { undeclared(); }\n");
  const ShellOutput output = cupolac("-c wrong.cu");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, HasSubstr("wrong.cu:1:27: error: use of undeclared identifier 'undeclared'"));
  EXPECT_FALSE(exists("wrong.o"));
}

TEST_F(Compile, StatusOfTheProgramComesThrough) {
  write("status.cpp", "int main(int count, char** words) { return count == 2 ? words[1][0] - '0' : 0; }\n");
  EXPECT_EQ(cupolac("--run -cudart none status.cpp -o status --run-args 7").status, 7);
}

// Oracle: "CUDA C++ Programming Guide", compute capability and __CUDA_ARCH__; nvcc's documented macros of its options.
TEST_F(Compile, MacrosSayWhatWasAskedFor) {
  write("macros.cu",
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != ARCH\n#error architecture\n#endif\n"
        "#if !defined(__CUDACC__) || !defined(__CUDACC_EXTENDED_LAMBDA__) || !defined(__CUDACC_RELAXED_CONSTEXPR__)\n"
        "#error macros\n#endif\nstatic_assert(__cplusplus == STANDARD, \"\");\n"
        "static_assert(!__nv_is_extended_device_lambda_closure_type(int), \"\");\n");
  const std::string lambdas = " --expt-extended-lambda --expt-relaxed-constexpr -c macros.cu ";
  EXPECT_EQ(cupolac("-DARCH=890 -DSTANDARD=201703L" + lambdas).status, 0);
  EXPECT_EQ(cupolac("-DARCH=800 -DSTANDARD=202002L -arch=sm_80 -std=c++20" + lambdas).status, 0);
  EXPECT_NE(cupolac("-DARCH=800 -DSTANDARD=201703L" + lambdas).status, 0);
}

TEST_F(Compile, ToolkitsAreNotSeen) {
  fs::create_directories(path("toolkit"));
  write("toolkit/cuda_runtime_api.h", "#error toolkit\n");
  write("toolkit/driver_types.h", "#error toolkit\n");
  const ShellOutput output =
      cupolac("-Itoolkit -c square.cu", "CPATH=toolkit CUDA_PATH=$PWD/toolkit CUDA_HOME=$PWD/toolkit");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("warning: 'toolkit' holds another CUDA toolkit's headers"));
}

TEST_F(Compile, ToolkitsLibrariesAreNotSeen) {
  for (const char* folder : {"toolkit", "other"}) {
    fs::create_directories(path(folder));
    write(folder + std::string("/libsolver.so"), "INPUT(-lm)\n");
  }
  write("toolkit/libcuda.so", "INPUT(-lm)\n");
  const std::string command = "square.cu -o square -lsolver", before = "LIBRARY_PATH=$PWD/toolkit";
  const ShellOutput refused = cupolac(command, before);
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.text, HasSubstr("-lsolver"));
  const ShellOutput taken = cupolac(command, before + ":$PWD/other");
  EXPECT_EQ(taken.status, 0) << taken.text;
}

TEST_F(Compile, MissingFilesAreNamed) {
  const ShellOutput output = cupolac("square.cu missing.cu");
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(output.text, "cupolac: there is no file 'missing.cu'\n");
}

TEST_F(Compile, FurtherOptionsComeFromTheEnvironment) {
  write("needs.cu", "static_assert(BEFORE + AFTER == 3, \"\");\n");
  EXPECT_EQ(cupolac("-c needs.cu", "NVCC_PREPEND_FLAGS=-DBEFORE=1 NVCC_APPEND_FLAGS=-DAFTER=2").status, 0);
  EXPECT_NE(cupolac("-c needs.cu").status, 0);
}

TEST_F(Compile, MissingClangIsNamed) {
  const ShellOutput output = cupolac("-c square.cu", "CUPOLA_CLANG=/missing/clang++");
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(output.text, "cupolac: CUPOLA_CLANG is '/missing/clang++', which is no program\n");
}

TEST_F(Compile, AloneItSaysThatItsHeadersAreMissing) {
  fs::create_directories(path("moved/bin"));
  fs::copy_file(CUPOLA_BUILD_DIR "/bin/cupolac", path("moved/bin/cupolac"));
  const ShellOutput output = run_shell("cd " + path("") + " && moved/bin/cupolac -c square.cu");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, AllOf(HasSubstr("cupolac: Cupola's headers are not in '"),
                                 HasSubstr("/moved/include/cuda': build all of it (scripts/build)")));
}

TEST_F(Compile, VersionCanBeReadByScripts) {
  const ShellOutput output = cupolac("--version");
  EXPECT_THAT(output.text, AllOf(HasSubstr("Cupola"), HasSubstr("release 13.0, V13.0.0")));
}

}  // namespace
}  // namespace cupola::cupolac
