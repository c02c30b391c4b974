#include <gmock/gmock.h>

#include <cstdlib>

#include "cupola/selftest/report.h"
#include "cupolac/shell.h"

namespace cupola::tool::selftest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

cupolac::ShellOutput selftest(const std::string& arguments) {
  return cupolac::run_shell("CUPOLA_LOG=none " CUPOLA_BUILD_DIR "/bin/cupola selftest " + arguments);
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(Selftest, EveryCheckPassesOnTheProcessor) {
  const cupolac::ShellOutput output = selftest("--device=cpu");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, AllOf(HasSubstr("floats/fma rounds once"), HasSubstr(" 0 failed, 1 not run on Cupola CPU"),
                                 Not(HasSubstr("FAILED"))));
}

TEST(Selftest, EveryCheckPassesOnTheSoftwareMetalInBothForms) {
  const cupolac::ShellOutput output = selftest("--device=metal");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, AllOf(HasSubstr("this is no GPU"), HasSubstr("\nmsl  warps/shuffles "),
                                 HasSubstr("\nair  warps/shuffles "), Not(HasSubstr("FAILED"))));
  // The container's three, and Xcode's validation for its compilation.
  EXPECT_EQ(count(output.text, "\nair  "), count(output.text, "\nmsl  ") + 3);
}

// A device that takes memory and runs nothing.
TEST(Selftest, EveryCheckOfAKernelFailsWhereNoneRuns) {
  const cupolac::ShellOutput output = selftest("--device=null --json -");
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(count(output.text, "\"failed\"") - 1,
            count(output.text, "cuModuleGetFunction failed") + count(output.text, "variables are not found"))
      << output.text;
  for (const char* check : {"memory/copies", "memory/fills", "module/load", "libraries/nvvm"})
    EXPECT_THAT(output.text, HasSubstr("\"" + std::string(check) + "\",\"result\":\"passed\""));
  EXPECT_THAT(output.text, HasSubstr("\"passed\":4,"));
}

TEST(Selftest, WithoutADeviceTheReportSaysWhy) {
  const cupolac::ShellOutput output = selftest("--device=nonsense");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, AllOf(HasSubstr("module/load"), HasSubstr("FAILED: cuInit failed with error 100"),
                                 HasSubstr("not run on no device\n")));
}

TEST(SelftestReport, CountsAndNamesWhatItIsTold) {
  Report report(/*prints=*/false);
  report.fact("device", "one");
  report.begin("msl", "a/first");
  report.end("12 us");
  report.begin("air", "a/first");
  report.end(fail(ErrorCode::InvalidValue, "two\nlines\n"));
  report.not_run("", "b", "no \"reason\"");
  EXPECT_EQ(report.failed(), 1);
  EXPECT_EQ(report.summary(), "selftest: 1 passed, 1 failed, 1 not run on one");
  EXPECT_EQ(report.json(), R"({"facts":{"device":"one"},"checks":[)"
                           R"({"form":"msl","name":"a/first","result":"passed","words":"12 us"},)"
                           R"({"form":"air","name":"a/first","result":"failed","words":"two lines"},)"
                           R"({"form":"","name":"b","result":"not run","words":"no \"reason\""}],)"
                           R"("passed":1,"failed":1,"not_run":1})"
                           "\n");
}

}  // namespace
}  // namespace cupola::tool::selftest
