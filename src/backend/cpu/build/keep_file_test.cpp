#include "backend/cpu/build/keep_file.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "base/file.h"

namespace cupola::cpu::build {
namespace {

TEST(KeepFile, WritesTheText) {
  const std::string path = testing::TempDir() + "cupola-kept-" + std::to_string(getpid());
  keep_file(path, "define void @f()");
  EXPECT_EQ(read_file(path).value_or("nothing"), "define void @f()");
  std::filesystem::remove(path);
}

TEST(KeepFileDeathTest, SaysOnceWhatCannotBeWritten) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process that has said nothing yet
  const auto keep_two = [] {
    keep_file("/nowhere/a.ll", "a");
    keep_file("/nowhere/b.ll", "b");
    std::_Exit(0);
  };
  EXPECT_EXIT(keep_two(), testing::ExitedWithCode(0),
              "^cupola: error: CUPOLA_KEEP: '/nowhere/a.ll' cannot be written: [^\n]*\n$");
}

}  // namespace
}  // namespace cupola::cpu::build
