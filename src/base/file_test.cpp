#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace cupola {
namespace {

using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  ~FileTest() override { std::filesystem::remove(path_); }
  const std::string path_ = testing::TempDir() + "/cupola_file_test_" + std::to_string(getpid());
};

TEST_F(FileTest, HoldsWhatWasWritten) {
  std::string text(200'000, 'x');  // several pieces of reading
  text[70'000] = '\0';
  text.back() = '\n';
  ASSERT_TRUE(write_file(path_, std::as_bytes(std::span(text))));
  EXPECT_EQ(read_file(path_).value(), text);
  ASSERT_TRUE(write_file(path_, {}));  // replaces, does not append
  EXPECT_EQ(read_file(path_).value(), "");
}

TEST_F(FileTest, SaysWhatCannotBeRead) {
  const auto missing = read_file(path_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::FileNotFound);
  EXPECT_EQ(missing.error().message, "'" + path_ + "' cannot be read: No such file or directory");
  const auto folder = read_file("/");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::FileNotFound);
  EXPECT_THAT(folder.error().message, HasSubstr("'/' cannot be read"));
}

TEST_F(FileTest, SaysWhatCannotBeWritten) {
  const auto written = write_file("/nonexistent/folder/file", {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::OperatingSystem);
  const std::byte one[1] = {};
  EXPECT_FALSE(write_file("/dev/full", one));
}

}  // namespace
}  // namespace cupola
