#include "base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cupola {
namespace {

// Topics are read once a process, so each statement runs in a program of its own.
class LogDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void log_with(const char* topics) {
  setenv("CUPOLA_LOG", topics, 1);
  log::line(log::Topic::Error, "bad {}", 1);
  log::line(log::Topic::Error, "bad {}", 1);
  log::line(log::Topic::Cache, "kept");
  log::line(log::Topic::Api, "called");
  _Exit(0);
}

TEST_F(LogDeathTest, PrintsTheTopicsAskedForAndEachErrorOnce) {
  EXPECT_EXIT(log_with(""), testing::ExitedWithCode(0), "^cupola: error: bad 1\n$");
  EXPECT_EXIT(log_with("cache,launch"), testing::ExitedWithCode(0), "^cupola: error: bad 1\ncupola: cache: kept\n$");
  EXPECT_EXIT(log_with("all"), testing::ExitedWithCode(0),
              "^cupola: error: bad 1\ncupola: cache: kept\ncupola: api: called\n$");
  EXPECT_EXIT(log_with("none"), testing::ExitedWithCode(0), "^$");
}

TEST_F(LogDeathTest, RefusesNoneAmongTopics) {
  EXPECT_EXIT(log_with("cache,none"), testing::ExitedWithCode(0),
              "^cupola: error: CUPOLA_LOG is 'cache,none', which is ignored[^\n]*\ncupola: error: bad 1\n$");
}

}  // namespace
}  // namespace cupola
