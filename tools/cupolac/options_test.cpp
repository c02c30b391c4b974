#include "cupolac/options.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "cupolac/lists.h"

namespace cupola::cupolac {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Options parsed(const std::string& line) {
  auto options = parse_options(split_words(line));
  EXPECT_TRUE(options) << line << ": " << (options ? "" : options.error().message);
  return options.value_or(Options{});
}

std::string refused(const std::string& line) {
  auto options = parse_options(split_words(line));
  EXPECT_FALSE(options) << line;
  return options ? "" : options.error().message;
}

TEST(Options, OneLetterNamesTakeJoinedValues) {
  EXPECT_THAT(parsed("-Ia -I b -I=c,d -DX=1 -D Y -UZ a.cu").preprocessor,
              ElementsAre("-Ia", "-Ib", "-Ic", "-Id", "-DX=1", "-DY", "-UZ"));
  EXPECT_EQ(parsed("-oprog a.cu").output, "prog");
  EXPECT_EQ(parsed("-o=prog a.cu").output, "prog");
  EXPECT_EQ(parsed("--output-file prog a.cu").output, "prog");
  EXPECT_EQ(parsed("-O3 a.cu").optimize, "3");
  EXPECT_EQ(parsed("--optimize 1 a.cu").optimize, "1");
  EXPECT_EQ(parsed("-t4 a.cu").threads, 4u);
}

TEST(Options, WholeNamesComeBeforeJoinedValues) {
  EXPECT_TRUE(parsed("-lineinfo a.cu").line_info);
  EXPECT_EQ(parsed("-lib a.o").goal, Goal::Archive);
  EXPECT_EQ(parsed("-odir out -c a.cu").output_folder, "out");
}

TEST(Options, ArchitectureHasManySpellings) {
  for (const char* line :
       {"-arch=sm_80", "-arch sm_80", "--gpu-architecture=compute_80", "-gencode arch=compute_80,code=sm_80",
        "-gencode=arch=compute_80,code=[sm_80,compute_80]",
        "--generate-code=arch=compute_80,code=\\\"sm_80,compute_80\\\"", "-arch=compute_80 -code=sm_80,compute_80"})
    EXPECT_EQ(parsed(std::string(line) + " a.cu").architecture, (Architecture{80, ""})) << line;
}

// Oracle: the CUDA programming guide's rule of which entry of a fat binary a device takes, for a device of
// capability 8.9.
TEST(Options, ArchitectureIsWhatACapability89DeviceWouldTake) {
  const std::pair<const char*, Architecture> rows[] = {
      {"", {89, ""}},
      {"-arch=native", {89, ""}},
      {"-arch=all-major", {89, ""}},
      {"-arch=sm_90a", {90, "a"}},
      {"-arch=sm_100f", {100, ""}},
      {"-arch=sm_52", {75, ""}},
      {"-gencode arch=compute_75,code=sm_75 -gencode arch=compute_86,code=sm_86 -gencode arch=compute_90,code=sm_90",
       {86, ""}},
      {"-gencode arch=compute_120,code=sm_120 -gencode arch=compute_90,code=sm_90", {90, ""}},
  };
  for (const auto& [line, architecture] : rows)
    EXPECT_EQ(parsed(std::string(line) + " a.cu").architecture, architecture) << line;
  EXPECT_THAT(refused("-arch=sm_999 a.cu"), HasSubstr("unsupported gpu architecture 'sm_999'"));
  EXPECT_THAT(refused("-arch=fast a.cu"), HasSubstr("'fast'"));
}

TEST(Options, ForwardedOptionsSplitAtCommasAndBlanksOutsideQuotes) {
  EXPECT_THAT(parsed("-Xcompiler -fPIC,-Wall -Xcompiler '-O1 -g' --compiler-options='\"-DA=b c\"' a.cu").host_options,
              ElementsAre("-fPIC", "-Wall", "-O1", "-g", "-DA=b c"));
  EXPECT_THAT(split_forwarded("-Wl\\,-z,-x"), ElementsAre("-Wl,-z", "-x"));
  EXPECT_THAT(split_list("a,b\\,c,,d"), ElementsAre("a", "b,c", "d"));
}

TEST(Options, MathOptions) {
  EXPECT_TRUE(parsed("a.cu").contract);
  EXPECT_FALSE(parsed("a.cu").flush_denormals);
  EXPECT_FALSE(parsed("-fmad=false a.cu").contract);
  EXPECT_TRUE(parsed("-ftz=true a.cu").flush_denormals);
  EXPECT_TRUE(parsed("--use_fast_math a.cu").flush_denormals);
  EXPECT_TRUE(parsed("-use_fast_math -prec-div=false -prec-sqrt false a.cu").fast_math);
  EXPECT_TRUE(parsed("a.cu").precise_quotients && parsed("a.cu").precise_roots);
  EXPECT_FALSE(parsed("-prec-div=false a.cu").precise_quotients);
  EXPECT_TRUE(parsed("-prec-div=false a.cu").precise_roots);
  EXPECT_FALSE(parsed("--prec-sqrt false a.cu").precise_roots);
  EXPECT_FALSE(parsed("-use_fast_math a.cu").precise_quotients || parsed("-use_fast_math a.cu").precise_roots);
  EXPECT_TRUE(parsed("-use_fast_math -prec-div=true a.cu").precise_quotients);
  EXPECT_TRUE(parsed("-fmad=false -use_fast_math a.cu").contract);
  EXPECT_THAT(refused("-fmad=maybe a.cu"), HasSubstr("true, false"));
  EXPECT_THAT(refused("-prec-div=0 a.cu"), HasSubstr("true, false"));
}

TEST(Options, AcceptedWithoutEffectSaysWhyInANote) {
  const Options options =
      parsed("-Xptxas -v,-O3 -maxrregcount=32 -Wno-deprecated-gpu-targets --resource-usage -diag-suppress 20012 a.cu");
  EXPECT_EQ(options.notes.size(), 5u);
  EXPECT_THAT(options.notes[0], HasSubstr("-Xptxas has no effect: "));
  ASSERT_EQ(options.inputs.size(), 1u);
}

TEST(Options, WarningsAsErrorsMayStandAlone) {
  EXPECT_THAT(parsed("-Werror a.cu").warnings, ElementsAre("-Werror"));
  EXPECT_THAT(parsed("-Werror all-warnings a.cu").warnings, ElementsAre("-Werror"));
  EXPECT_THAT(parsed("-Werror=cross-execution-space-call,reorder a.cu").warnings, IsEmpty());
  EXPECT_THAT(parsed("-w -Wno-unused a.cu").warnings, ElementsAre("-w", "-Wno-unused"));
  EXPECT_EQ(parsed("-Werror a.cu").inputs.size(), 1u);
}

TEST(Options, UnknownOptionIsNamed) {
  EXPECT_EQ(refused("-foo a.cu"), "unknown option '-foo'; see cupolac --help");
  EXPECT_EQ(refused("-march=native a.cu"), "unknown option '-march=native'; see cupolac --help");
  EXPECT_EQ(refused("--Ix a.cu"), "unknown option '--Ix'; see cupolac --help");
  EXPECT_THAT(parsed("-forward-unknown-to-host-compiler -Wall -fPIC a.cu").host_options, ElementsAre("-Wall", "-fPIC"));
}

TEST(Options, WhatIsNotSupportedIsRefusedInOneLine) {
  for (const char* option : {"-optix-ir", "-ltoir", "--cuda", "-m32"}) {
    auto options = parse_options({option, "a.cu"});
    ASSERT_FALSE(options) << option;
    EXPECT_EQ(options.error().code, ErrorCode::NotSupported);
    EXPECT_THAT(options.error().message, HasSubstr(option));
    EXPECT_EQ(options.error().message.find('\n'), std::string::npos);
  }
}

// Oracle: "CUDA Compiler Driver NVCC", options --device-c, --device-w, --relocatable-device-code, --device-link.
TEST(Options, RelocatableCodeHasManySpellings) {
  for (const char* line : {"-dc a.cu", "--device-c a.cu", "-rdc=true -c a.cu", "-c -rdc true a.cu",
                           "--relocatable-device-code=true --compile a.cu"}) {
    EXPECT_EQ(parsed(line).goal, Goal::Objects) << line;
    EXPECT_TRUE(parsed(line).relocatable) << line;
  }
  for (const char* line : {"-dw a.cu", "--device-w a.cu", "-rdc=false -c a.cu"}) {
    EXPECT_EQ(parsed(line).goal, Goal::Objects) << line;
    EXPECT_FALSE(parsed(line).relocatable) << line;
  }
  EXPECT_THAT(refused("-rdc=maybe a.cu"), HasSubstr("true, false"));
}

TEST(Options, DeviceLinkMakesAnObjectOrAFatBinary) {
  EXPECT_EQ(parsed("-dlink a.o").goal, Goal::DeviceLink);
  EXPECT_FALSE(parsed("--device-link -shared a.o").only_device_code);
  EXPECT_TRUE(parsed("-fatbin -dlink a.o").only_device_code);
  EXPECT_TRUE(parsed("-dlink -cubin a.o").cubin);
}

TEST(Options, DeviceCodeIsAnInput) {
  const Options options = parsed("-dlink a.ptx b.cubin c.fatbin d.o");
  for (size_t i : {0, 1, 2}) EXPECT_EQ(options.inputs[i].kind, FileKind::DeviceCode);
  EXPECT_EQ(options.inputs[3].kind, FileKind::Object);
}

TEST(Options, MistakesAreNamed) {
  EXPECT_EQ(refused("-O2"), "no input files; see cupolac --help");
  EXPECT_EQ(refused("a.cu -o"), "'-o' needs a value");
  EXPECT_THAT(refused("-c a.cu b.cu -o x.o"), HasSubstr("2 inputs"));
  EXPECT_THAT(refused("notes.txt"), HasSubstr("'notes.txt'"));
  EXPECT_THAT(refused("-t many a.cu"), HasSubstr("'many'"));
  EXPECT_THAT(refused("-x fortran a.cu"), HasSubstr("'fortran'"));
  EXPECT_THAT(refused("-O7 a.cu"), HasSubstr("'7'"));
}

TEST(Options, LanguageHoldsForSourcesNotForObjects) {
  const Options options = parsed("-x cu a.cpp b.o libc.so.2");
  EXPECT_EQ(options.inputs[0].kind, FileKind::Cuda);
  EXPECT_EQ(options.inputs[1].kind, FileKind::Object);
  EXPECT_EQ(options.inputs[2].kind, FileKind::Library);
}

TEST(Options, OptionsFileStandsWhereItIsNamed) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "cupolac_options.txt";
  std::ofstream(path) << "-O2 # optimise\n-DNAME='a b'\n";
  const Options options = parsed("--options-file " + path.string() + " -O3 a.cu");
  std::filesystem::remove(path);
  EXPECT_EQ(options.optimize, "3");
  EXPECT_THAT(options.preprocessor, ElementsAre("-DNAME=a b"));
  EXPECT_THAT(refused("-optf missing.txt a.cu"), HasSubstr("'missing.txt'"));
  std::ofstream(path) << "-O1\na.cu\n";
  const Options by_at = parsed("@" + path.string());
  std::filesystem::remove(path);
  EXPECT_EQ(by_at.optimize, "1");
  EXPECT_EQ(by_at.inputs.size(), 1u);
  EXPECT_THAT(refused("@missing.txt"), HasSubstr("'missing.txt'"));
}

TEST(Options, HelpNamesEveryOption) {
  const std::string help = help_text();
  for (const char* name : {"--generate-code, -gencode", "-use_fast_math", "--options-file, -optf", "-Xptxas", "-dlink"})
    EXPECT_THAT(help, HasSubstr(name));
}

TEST(Lists, ShellWordsSurviveAShell) {
  EXPECT_EQ(shell_word("-O2"), "-O2");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace cupola::cupolac
