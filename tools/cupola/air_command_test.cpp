// cupola air, as a user calls it, on containers made here.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "backend/metal/metallib/sample_container.h"
#include "base/file.h"
#include "cupolac/run.h"
#include "cupolac/shell.h"

namespace cupola::tool {
namespace {

namespace fs = std::filesystem;
using namespace metallib;
using cupolac::ShellOutput;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AirCommand : public testing::Test {
 protected:
  ShellOutput cupola(const std::string& arguments, const std::string& environment = "") const {
    return cupolac::run_shell("cd " + folder() + " && " + environment + " " CUPOLA_BUILD_DIR "/bin/cupola air " +
                              arguments);
  }
  std::string folder() const { return scratch_.path(); }
  void put(const std::string& name, Bytes contents) const { ASSERT_TRUE(write_file(folder() + "/" + name, contents)); }
  /// A container of one kernel 'add' whose module is `module`.
  void put(const std::string& name, const SampleModule& sample) const {
    const std::vector<std::byte> module = sample_module(sample);
    const FunctionSource functions[] = {{"add", FunctionKind::Kernel, module, {}, {}}};
    const auto built = build(functions);
    ASSERT_TRUE(built) << built.error().message;
    put(name, *built);
  }
  /// A program of that name in a folder that the environment it returns puts on PATH.
  std::string with_program(const std::string& name, const std::string& script) const {
    fs::create_directories(folder() + "/bin");
    std::ofstream(folder() + "/bin/" + name) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(folder() + "/bin/" + name, fs::perms::owner_all);
    return "PATH=" + folder() + "/bin:/usr/bin:/bin";
  }

 private:
  const cupolac::Scratch scratch_ = cupolac::Scratch::temporary().value();
};

TEST_F(AirCommand, InspectShowsEverything) {
  const std::vector<std::byte> contents = sample_container();
  put("a.metallib", contents);
  const ShellOutput output = cupola("inspect a.metallib");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text,
              AllOf(HasSubstr("container 1.2.7, executable, " + std::to_string(contents.size()) + " bytes\n"),
                    HasSubstr("platform: macOS, 64-bit, system 13.0.0 or newer\n"),
                    HasSubstr("header extension: HSRD "), HasSubstr("library name: sample.metallib\n"),
                    HasSubstr("sources: options '-O2', folder '/home'; archive 'id' of 4 bytes\n"),
                    HasSubstr("reflection: 2 buffers\n"), HasSubstr("functions: 2, 2 hashes right\n")));
  EXPECT_THAT(output.text,
              AllOf(HasSubstr("function 'add': kernel, AIR 2.5, MSL 3.0\n"), HasSubstr(" right\n"),
                    Not(HasSubstr("WRONG")), HasSubstr(" of bitcode in a wrapper, typed pointers\n"),
                    HasSubstr("    triple: air64-apple-macosx13.0.0\n"), HasSubstr("    producer: Cupola's sample\n"),
                    HasSubstr("    AIR of the module: 2.5.0\n"), HasSubstr("    language of the module: Metal 3.0.0\n"),
                    HasSubstr("    kernels of the module: sub\n"),
                    HasSubstr("    function constant 7 'used', MTLDataType 53\n"),
                    HasSubstr("    source: /home/a.metal:42\n"), HasSubstr("not shown: the code of the modules")));
}

TEST_F(AirCommand, InspectPrintsJsonThatOthersRead) {
  put("a.metallib", sample_container());
  const ShellOutput output = cupola(
      "inspect --json a.metallib | python3 -c 'import json, sys; a = json.load(sys.stdin); f = a[\"functions\"]; "
      "print(a[\"container\"], a[\"system\"], a[\"hashes_right\"], f[0][\"name\"], f[0][\"hash_is_right\"], "
      "f[0][\"module\"][\"triple\"], f[0][\"constants\"][0][\"index\"], f[1][\"source\"][\"line\"], "
      "[e[\"tag\"] for e in a[\"extension\"]])'");
  EXPECT_EQ(output.text, "1.2.7 13.0.0 2 add True air64-apple-macosx13.0.0 7 42 ['HSRD', 'HDYN', 'RLST', 'UUID']\n");
}

TEST_F(AirCommand, InspectShowsNamesOfAnyBytesOnOneLine) {
  const std::vector<std::byte> module = sample_module();
  const FunctionSource functions[] = {{"a\"\n\x1b[31m\xff", FunctionKind::Visible, module, {}, {}}};
  put("a.metallib", build(functions).value());
  EXPECT_THAT(cupola("inspect a.metallib").text, HasSubstr("function 'a\"\\x0a\\x1b[31m\\xff': visible, "));
  EXPECT_EQ(cupola("inspect --json a.metallib | python3 -c 'import json, sys; "
                   "print(json.load(sys.stdin)[\"functions\"][0][\"name\"])'")
                .text,
            "a\"\\x0a\\x1b[31m\\xff\n");
}

TEST_F(AirCommand, InspectSaysWhyItCannotRead) {
  EXPECT_EQ(cupola("inspect missing").status, 1);
  std::vector<std::byte> contents = sample_container();
  contents.pop_back();
  put("a.metallib", contents);
  const ShellOutput output = cupola("inspect a.metallib");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, HasSubstr("cupola: 'a.metallib': metallib: header: it says that the file has "));
}

TEST_F(AirCommand, InspectShowsAWrongHash) {
  const std::vector<std::byte> contents = sample_container();
  Library changed = read(contents).value();
  changed.functions[1].hash[3] ^= std::byte{1};
  put("a.metallib", write(changed).value());
  EXPECT_THAT(cupola("inspect a.metallib").text,
              AllOf(HasSubstr("functions: 2, 1 hashes right\n"), HasSubstr(" WRONG\n")));
  const ShellOutput output = cupola("validate a.metallib");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, AllOf(HasSubstr("a.metallib: function 'sub': HASH is "),
                                 HasSubstr("a.metallib: 2 functions, 1 problems\n")));
}

TEST_F(AirCommand, ValidateFindsNothingInAGoodContainer) {
  put("a.metallib", sample_container());
  const ShellOutput output = cupola("validate a.metallib --require-function-list --require-metadata");
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text, "a.metallib: 2 functions, 0 problems\n");
  EXPECT_EQ(cupola("validate - < a.metallib").text, "-: 2 functions, 0 problems\n");
}

TEST_F(AirCommand, ValidateRequiresAFunctionListOnlyWhenAsked) {
  put("a.metallib", build({}).value());
  EXPECT_EQ(cupola("validate a.metallib").status, 0);
  const ShellOutput output = cupola("validate --require-function-list a.metallib");
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(output.text, "a.metallib: function list: it is empty\na.metallib: 0 functions, 1 problems\n");
}

TEST_F(AirCommand, ValidateRequiresMetadataOnlyWhenAsked) {
  put("a.metallib", SampleModule{.air_metadata = false});
  EXPECT_EQ(cupola("validate a.metallib").status, 0);
  const ShellOutput output = cupola("validate --require-metadata a.metallib");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, AllOf(HasSubstr("a.metallib: function 'add': the module has no metadata 'air.kernel'\n"),
                                 HasSubstr("a.metallib: 1 functions, 3 problems\n")));
}

TEST_F(AirCommand, ValidateSaysWhatCannotBeRead) {
  put("a.metallib", bytes_of("text"));
  const ShellOutput output = cupola("validate a.metallib");
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(output.text,
            "a.metallib: metallib: header: it begins with 'text', not with 'MTLB'\n"
            "a.metallib: 0 functions, 1 problems\n");
}

TEST_F(AirCommand, ValidateNeedsXcrunForXcrun) {
  put("a.metallib", sample_container());
  fs::create_directories(folder() + "/none");
  const ShellOutput output = cupola("validate --xcrun a.metallib", "PATH=" + folder() + "/none");
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(
      output.text,
      "cupola: --xcrun needs a Mac with Xcode: there is no xcrun on PATH; leave it out for Cupola's own checks\n");
}

// What Apple's compiler says cannot be tested here; that its answer is taken can.
TEST_F(AirCommand, ValidateTakesXcrunsAnswer) {
  put("a b.metallib", sample_container());
  const std::string good = with_program("xcrun", "[ \"$*\" = '-sdk macosx metal -validate a b.metallib' ]");
  EXPECT_EQ(cupola("validate --xcrun 'a b.metallib'", good).text, "a b.metallib: 2 functions, 0 problems\n");
  const std::string bad = with_program("xcrun", "echo 'error: bad module' >&2; exit 1");
  const ShellOutput output = cupola("validate --xcrun 'a b.metallib'", bad);
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(output.text, "a b.metallib: xcrun metal: error: bad module\na b.metallib: 2 functions, 1 problems\n");
  const std::string silent = with_program("xcrun", "exit 3");
  EXPECT_THAT(cupola("validate --xcrun 'a b.metallib'", silent).text, HasSubstr("xcrun metal: exit status 3\n"));
}

// The software Metal loads it here; on a Mac it is the system's.
TEST_F(AirCommand, ValidateHasMetalLoadIt) {
  put("a.metallib", sample_container());
  const ShellOutput output = cupola("validate --load a.metallib");
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(
      output.text,
      "a.metallib: Metal (software Metal: a double for tests, on the processor) makes pipelines of 2 of 2 kernels\n"
      "a.metallib: 2 functions, 0 problems\n");
  const SampleModule newer{.air = {2, 8, 0}, .language = {4, 0, 0}};
  const std::vector<std::byte> module = sample_module(newer);
  const FunctionSource functions[] = {{"add", FunctionKind::Kernel, module, {}, {}}};
  put("newer.metallib", build(functions, {.macos = {26}}).value());
  const ShellOutput refused = cupola("validate --load newer.metallib");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.text, HasSubstr("the processor): the library is for a newer system: container 1.2.9\n"));
  EXPECT_THAT(refused.text, HasSubstr("newer.metallib: 1 functions, 1 problems\n"));
  EXPECT_THAT(cupola("validate --load a.metallib", "CUPOLA_METAL_LIBRARY=/none").text,
              HasSubstr("cupola: the metal device needs Metal of a Mac"));
}

TEST_F(AirCommand, NeedsASubcommand) {
  EXPECT_NE(cupola("").status, 0);
}

}  // namespace
}  // namespace cupola::tool
