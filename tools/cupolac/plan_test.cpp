#include "cupolac/plan.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "cupolac/lists.h"

namespace cupola::cupolac {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Installation kInstallation{"/c/bin/cupolac", "/c/include/cuda", "/c/lib", "/llvm/clang++", "/llvm/llvm-ar"};

Plan planned(const std::string& line) {
  auto options = parse_options(split_words(line));
  EXPECT_TRUE(options) << line;
  auto plan = make_plan(options.value_or(Options{}), kInstallation, "/s");
  EXPECT_TRUE(plan) << line << ": " << (plan ? "" : plan.error().message);
  return plan.value_or(Plan{});
}

/// The steps' names; chains are separated by bars.
std::string names(const Plan& plan) {
  std::string text;
  for (const auto& chain : plan.chains) {
    if (!text.empty()) text += " | ";
    for (size_t i = 0; i < chain.size(); ++i) text += (i ? " " : "") + chain[i].name;
  }
  for (const Step& step : plan.last) text += (text.empty() ? "" : " ; ") + step.name;
  return text;
}

/// A command as one line with a blank at both ends, so that a word can be looked for.
std::string line(const Step& step) {
  std::string text = " ";
  for (const std::string& word : step.command) text += word + " ";
  return text;
}

// Oracle: the documented phases of nvcc ("The CUDA Compilation Trajectory"), with pack in the place of ptxas and
// fatbinary.
TEST(Plan, StepsOfCommandLines) {
  const std::pair<const char*, const char*> rows[] = {
      {"a.cu", "device pack host ; link"},
      {"a.cu b.cu -o ab", "device pack host | device pack host ; link"},
      {"-c a.cu", "device pack host"},
      {"a.cpp", "compile ; link"},
      {"a.cpp -x cu", "device pack host ; link"},
      {"a.cu b.cpp c.o libd.a", "device pack host | compile ; link-units ; register ; link"},
      {"a.cu libd.so", "device pack host ; link"},
      {"a.cu -L. -ld", "device pack host ; link-units ; register ; link"},
      {"a.cu -lm", "device pack host ; link"},
      {"a.o b.o -o ab", "link-units ; register ; link"},
      {"-lib a.cu b.o -o libab.a", "device pack host ; archive"},
      {"-shared a.cu -o a.so", "device pack host ; link"},
      {"-fatbin a.cu", "device pack"},
      {"-ptx a.cu", "device pack"},
      {"-dc a.cu b.cu", "device pack host | device pack host"},
      {"-rdc=true a.cu b.cu", "device pack host | device pack host ; link-units ; register ; link"},
      {"-dlink a.o b.o", "link-units ; register"},
      {"-dlink -fatbin a.o b.ptx", "link-units"},
      {"-dlink a.cu", "device pack host ; link-units ; register"},
      {"-lib -rdc=true a.cu -o liba.a", "device pack host ; archive"},
      {"-cubin a.cu", "device pack"},
      {"-E a.cu", "preprocess"},
      {"-M a.cu", "dependencies"},
      {"-MM a.cpp", "dependencies"},
      {"--run a.cu", "device pack host ; link ; run"},
  };
  for (const auto& [command, steps] : rows) EXPECT_EQ(names(planned(command)), steps) << command;
}

TEST(Plan, ClangIsKeptFromToolkits) {
  const Plan plan = planned("a.cu");
  for (size_t i : {0, 2}) {
    const std::string command = line(plan.chains[0][i]);
    for (const char* words : {" -nocudainc ", " -nocudalib ", " --cuda-path=/c/include/cuda/no-toolkit ",
                              " -isystem /c/include/cuda ", " -include cuda_runtime.h "})
      EXPECT_THAT(command, HasSubstr(words));
  }
}

TEST(Plan, DevicePassLeavesOptimisationToKir) {
  const std::string device = line(planned("-O0 a.cu").chains[0][0]);
  EXPECT_THAT(device, HasSubstr(" --cuda-device-only -O2 -Xclang -disable-llvm-passes -emit-llvm "));
  EXPECT_THAT(device, HasSubstr(" -c a.cu -o /s/a.kir.bc "));
  EXPECT_THAT(line(planned("-O3 a.cu").chains[0][2]), HasSubstr(" -O3 "));
}

TEST(Plan, FilesGoFromStepToStep) {
  const Plan plan = planned("a.cu -o prog");
  EXPECT_THAT(plan.chains[0][1].command, ElementsAre("/c/bin/cupolac", "--pack-fatbin", "-arch", "compute_89",
                                                     "/s/a.kir.bc", "-o", "/s/a.fatbin"));
  EXPECT_THAT(line(plan.chains[0][2]), HasSubstr(" -Xclang -fcuda-include-gpubinary -Xclang /s/a.fatbin "));
  EXPECT_THAT(line(plan.chains[0][2]), HasSubstr(" -c a.cu -o /s/a.o "));
  EXPECT_THAT(line(plan.last[0]), HasSubstr(" /s/a.o "));
  EXPECT_THAT(line(plan.last[0]), HasSubstr(" -o prog "));
}

TEST(Plan, RelocatableCodeIsAUnitOfOneNameInEveryStep) {
  const Plan plan = planned("-dc a.cu -o o/a.o");
  const std::string pack = line(plan.chains[0][1]), unit = plan.chains[0][1].command[2];
  EXPECT_THAT(pack, HasSubstr(" --pack-unit a_"));
  EXPECT_THAT(pack, HasSubstr(" /s/a.kir.bc -o /s/a.unit "));
  for (size_t i : {0, 2}) EXPECT_THAT(line(plan.chains[0][i]), HasSubstr(" -cuid=" + unit + " "));
  for (size_t i : {0, 2}) EXPECT_THAT(line(plan.chains[0][i]), HasSubstr(" -D__CUDACC_RDC__=1 -fgpu-rdc "));
  EXPECT_THAT(line(plan.chains[0][2]), HasSubstr(" -Xclang -fembed-offload-object=/s/a.unit "));
  EXPECT_THAT(line(plan.chains[0][2]), HasSubstr(" -DCUPOLA_DEVICE_UNIT=" + unit + " "));
  EXPECT_THAT(line(planned("-c a.cu").chains[0][2]), Not(HasSubstr("rdc")));
}

TEST(Plan, UnitsOfOneFileDifferByWhatTheyAreCompiledFor) {
  auto unit = [](const std::string& command) { return planned(command).chains[0][1].command[2]; };
  const std::string plain = unit("-dc a.cu");
  EXPECT_EQ(plain, unit("-dc a.cu"));
  for (const char* other : {"-dc -DX=1 a.cu", "-dc a.cu -o b.o", "-dc x/a.cu -o a.o"}) EXPECT_NE(plain, unit(other));
}

TEST(Plan, DeviceLinkTakesWhatTheLinkTakes) {
  const Plan plan = planned("-rdc=true a.cu b.o c.ptx -Lfolder -ld libe.a -o prog");
  EXPECT_THAT(line(plan.last[0]),
              HasSubstr(" --link-units /s/device_link.fatbin -arch compute_89 -Lfolder /s/a.o b.o c.ptx -ld libe.a -o "
                        "/s/device_link.c "));
  EXPECT_THAT(line(plan.last[1]), HasSubstr(" -c /s/device_link.c -o /s/device_link.o "));
  EXPECT_THAT(line(plan.last[2]), HasSubstr(" /s/a.o b.o -ld libe.a /s/device_link.o -o prog "));
  EXPECT_THAT(line(planned("-dlink a.o -o x.o").last[1]), HasSubstr(" -o x.o "));
  EXPECT_THAT(line(planned("-dlink a.o").last[1]), HasSubstr(" -o a_dlink.o "));
  EXPECT_THAT(line(planned("-dlink -cubin a.o").last[0]), HasSubstr(" --link-units a_dlink.cubin "));
}

TEST(Plan, DeviceCodeIsForLinksOnly) {
  auto options = parse_options({"-c", "a.ptx"});
  ASSERT_TRUE(options);
  const auto plan = make_plan(*options, kInstallation, "/s");
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("'a.ptx'"));
}

TEST(Plan, InputsOfOneNameGetDifferentFiles) {
  const Plan plan = planned("x/a.cu y/a.cu");
  EXPECT_THAT(line(plan.last[0]), HasSubstr(" /s/a.o /s/a.2.o "));
}

TEST(Plan, MathOptionsReachTheDevicePass) {
  auto device = [](const std::string& options) { return line(planned(options + " a.cu").chains[0][0]); };
  EXPECT_THAT(device(""), HasSubstr(" -ffp-contract=fast "));
  EXPECT_THAT(device(""), Not(HasSubstr("flush-denormals")));
  EXPECT_THAT(device("-fmad=false"), HasSubstr(" -ffp-contract=off "));
  EXPECT_THAT(device("-ftz=true"), HasSubstr(" -fgpu-flush-denormals-to-zero "));
  EXPECT_THAT(device("--use_fast_math"), HasSubstr(" -fgpu-approx-transcendentals "));
  EXPECT_THAT(device("--use_fast_math"), HasSubstr(" -fgpu-flush-denormals-to-zero "));
  EXPECT_THAT(device(""), Not(HasSubstr("-mrecip")));
  EXPECT_THAT(device("-prec-div=false"), HasSubstr(" -mrecip=divf "));
  EXPECT_THAT(device("-prec-sqrt=false"), HasSubstr(" -mrecip=sqrtf "));
  EXPECT_THAT(device("--use_fast_math"), HasSubstr(" -mrecip=divf:0,sqrtf "));
  EXPECT_THAT(device("--use_fast_math -prec-div=true -prec-sqrt=true"), Not(HasSubstr("-mrecip")));
}

TEST(Plan, DebugOptionsReachTheirPass) {
  auto device = [](const std::string& options) { return line(planned(options + " a.cu").chains[0][0]); };
  EXPECT_THAT(device("-lineinfo"), HasSubstr(" -gline-tables-only "));
  EXPECT_THAT(device("-g"), HasSubstr(" -gline-tables-only "));
  EXPECT_THAT(device("-G"), HasSubstr(" -g "));
  EXPECT_THAT(device(""), Not(HasSubstr(" -g")));
  EXPECT_THAT(line(planned("-g a.cu").chains[0][2]), HasSubstr(" -g "));
}

TEST(Plan, HostOptionsReachDeviceCodeWhereTheySayWhatTheSourceMeans) {
  const Plan plan = planned("-Xcompiler -fopenmp,-DA=1,-Wall,-march=native a.cu");
  EXPECT_THAT(line(plan.chains[0][0]), HasSubstr(" -DA=1 -Wall "));
  EXPECT_THAT(line(plan.chains[0][0]), Not(HasSubstr("-fopenmp")));
  EXPECT_THAT(line(plan.chains[0][2]), HasSubstr(" -fopenmp -DA=1 -Wall -march=native "));
  EXPECT_THAT(line(plan.last[0]), HasSubstr(" -fopenmp "));
}

TEST(Plan, LinkFindsCupolaFirstAndWhenTheProgramStarts) {
  const std::string link = line(planned("-L/usr/local/cuda/lib64 -lm a.cu b.o -lfoo -Xlinker -z,now").last.back());
  EXPECT_THAT(link, HasSubstr(" -L/c/lib -L/usr/local/cuda/lib64 "));
  EXPECT_THAT(link, HasSubstr(" /s/a.o b.o -lfoo -Xlinker -z -Xlinker now -lm "));
  EXPECT_THAT(link, testing::StartsWith(" /c/lib/cupola/host-link "));
  EXPECT_THAT(link, HasSubstr(" -lcudart -Wl,-rpath,/c/lib "));
  EXPECT_THAT(line(planned("-cudart=static a.cu").last[0]),
              HasSubstr(" -lcudart_static -ldl -lpthread -Wl,-rpath,/c/lib "));
  EXPECT_THAT(line(planned("-cudart none a.cu").last[0]), Not(HasSubstr("cudart")));
  EXPECT_THAT(line(planned("a.cu -lcudadevrt").last[0]), Not(HasSubstr("cudadevrt")));
}

TEST(Plan, HostCompilerTakesOtherSourcesAndTheLink) {
  const Plan plan = planned("-ccbin g++-12 -std=c++20 a.cu b.cpp c.c");
  EXPECT_EQ(plan.chains[0][0].command[0], "/llvm/clang++");
  EXPECT_EQ(plan.chains[0][2].command[0], "/llvm/clang++");
  EXPECT_THAT(line(plan.chains[1][0]), HasSubstr(" g++-12 -x c++ -std=c++20 -isystem /c/include/cuda "));
  EXPECT_THAT(line(plan.chains[2][0]), HasSubstr(" g++-12 -x c -isystem "));
  EXPECT_EQ(plan.last[0].command[0], "g++-12");
}

TEST(Plan, ToolkitFoldersAreLeftOut) {
  // A folder that looks like a toolkit's: made here, because none need be on this machine.
  const std::filesystem::path toolkit = std::filesystem::path(testing::TempDir()) / "toolkit" / "include";
  std::filesystem::create_directories(toolkit);
  std::ofstream(toolkit / "cuda_runtime_api.h") << "";
  const Plan plan = planned("-I" + toolkit.string() + " -Iother -isystem " + toolkit.string() + " a.cu");
  EXPECT_EQ(without_toolkits("/x:" + toolkit.string() + ":/y", "/c/include/cuda"), "/x:/y");
  std::filesystem::remove_all(toolkit.parent_path());
  EXPECT_THAT(line(plan.chains[0][0]), Not(HasSubstr(toolkit.string())));
  EXPECT_THAT(line(plan.chains[0][0]), HasSubstr(" -Iother "));
  EXPECT_EQ(plan.warnings.size(), 2u);
}

TEST(Plan, RefusalsComeBehindTheUsersHeaders) {
  Installation installation = kInstallation;
  installation.refusals = "/s/foreign-headers";
  const auto options = parse_options({"-Imine", "a.cu", "b.cpp"});
  ASSERT_TRUE(options);
  const auto plan = make_plan(*options, installation, "/s");
  ASSERT_TRUE(plan);
  EXPECT_THAT(line(plan->chains[0][0]), HasSubstr(" -Imine -isystem /s/foreign-headers "));
  EXPECT_THAT(line(plan->chains[1][0]), HasSubstr(" -Imine -isystem /s/foreign-headers "));
}

TEST(Plan, DependencyFiles) {
  EXPECT_THAT(line(planned("-MD -c a.cu -o o/a.o").chains[0][2]), HasSubstr(" -MD -MF o/a.d -MT o/a.o "));
  EXPECT_THAT(line(planned("-MMD -MP -MF x.d -MT t -c a.cu").chains[0][2]), HasSubstr(" -MMD -MF x.d -MT t -MP "));
  EXPECT_THAT(line(planned("-MD src/a.cu").chains[0][2]), HasSubstr(" -MD -MF a.d -MT a.o "));
  EXPECT_THAT(line(planned("-M a.cu -o a.d").chains[0][0]), HasSubstr(" -M -MT a.o a.cu -o a.d "));
}

TEST(Plan, DefaultNamesOfOutputs) {
  EXPECT_THAT(line(planned("-c src/a.cu").chains[0][2]), HasSubstr(" -o a.o "));
  EXPECT_THAT(line(planned("-odir out -c src/a.cu").chains[0][2]), HasSubstr(" -o out/a.o "));
  EXPECT_THAT(line(planned("-fatbin a.cu").chains[0][1]), HasSubstr(" -o a.fatbin "));
  EXPECT_THAT(line(planned("-cubin a.cu").chains[0][1]), HasSubstr(" -o a.cubin "));
  EXPECT_THAT(line(planned("-ptx src/a.cu").chains[0][1]),
              HasSubstr(" --pack-ptx -arch compute_89 /s/a.kir.bc -o a.ptx "));
  EXPECT_THAT(line(planned("a.cu").last[0]), HasSubstr(" -o a.out "));
  EXPECT_THAT(line(planned("--run a.cu --run-args 1,2").last[1]), HasSubstr(" ./a.out 1 2 "));
}

TEST(Plan, PerThreadStreamsHoldForEverySource) {
  const Plan plan = planned("--default-stream per-thread a.cu b.cpp");
  EXPECT_THAT(line(plan.chains[0][2]), HasSubstr(" -Xclang -fgpu-default-stream=per-thread "));
  EXPECT_THAT(line(plan.chains[1][0]), HasSubstr(" -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1 "));
}

TEST(Plan, ObjectsNeedNoCompiling) {
  auto options = parse_options({"-c", "a.o"});
  ASSERT_TRUE(options);
  auto plan = make_plan(*options, kInstallation, "/s");
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("'a.o'"));
}

}  // namespace
}  // namespace cupola::cupolac
