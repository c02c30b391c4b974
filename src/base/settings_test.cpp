#include "base/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "base/log.h"

namespace cupola {
namespace {

/// An environment variable for a scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

Settings read_settings() {
  std::vector<std::string> problems;
  const Settings read = cupola::read_settings(problems);
  EXPECT_EQ(problems, std::vector<std::string>());
  return read;
}

TEST(Settings, ComeFromTheEnvironment) {
  Variable device("CUPOLA_DEVICE", "null"), workers("CUPOLA_WORKERS", "3"), cache("CUPOLA_CACHE", "0");
  const Settings read = read_settings();
  EXPECT_EQ(read.device, "null");
  EXPECT_EQ(read.workers, 3);
  EXPECT_FALSE(read.cache);
}

TEST(Settings, EmptyVariableMeansTheDefault) {
  Variable device("CUPOLA_DEVICE", ""), workers("CUPOLA_WORKERS", ""), cache("CUPOLA_CACHE", "");
  const Settings read = read_settings();
  EXPECT_EQ(read.device, Settings().device);
  EXPECT_EQ(read.workers, Settings().workers);
  EXPECT_EQ(read.cache, Settings().cache);
}

TEST(Settings, NoDeviceIsNotTheSameAsNoWish) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_FALSE(read_settings().visible_devices.has_value());
  Variable none("CUDA_VISIBLE_DEVICES", "");
  EXPECT_EQ(read_settings().visible_devices, "");
  Variable some("CUDA_VISIBLE_DEVICES", "1,0");
  EXPECT_EQ(read_settings().visible_devices, "1,0");
}

TEST(Settings, OffSwitchesOff) {
  for (const char* off : {"off", "0", "false", "no"}) {
    Variable cache("CUPOLA_CACHE", off);
    EXPECT_FALSE(read_settings().cache) << off;
  }
  for (const char* on : {"on", "1", "true", "yes"}) {
    Variable cache("CUPOLA_CACHE", on);
    EXPECT_TRUE(read_settings().cache) << on;
  }
}

TEST(Settings, ValuesOfAnotherTypeAreReportedAndIgnored) {
  for (const char* wrong : {"abc", "3x", "-1", "1e3", "99999999999999999999", " "}) {
    Variable days("CUPOLA_CACHE_DAYS", wrong), cache("CUPOLA_CACHE", "maybe");
    std::vector<std::string> problems;
    const Settings read = cupola::read_settings(problems);
    EXPECT_EQ(read.cache_days, Settings().cache_days);
    EXPECT_EQ(read.cache, Settings().cache);
    ASSERT_EQ(problems.size(), 2u) << wrong;
    EXPECT_EQ(problems[1],
              "CUPOLA_CACHE_DAYS is '" + std::string(wrong) + "', which is ignored: it must be a number, 0 or above");
    EXPECT_NE(problems[0].find("CUPOLA_CACHE is 'maybe'"), std::string::npos);
  }
}

TEST(Settings, NumbersOutOfTheirRangeAreReportedAndIgnored) {
  for (const char* wrong : {"0", "65"}) {
    Variable count("CUPOLA_DEVICE_COUNT", wrong), workers("CUPOLA_WORKERS", "1025");
    std::vector<std::string> problems;
    EXPECT_EQ(cupola::read_settings(problems).device_count, 1);
    EXPECT_EQ(problems, (std::vector<std::string>{
                            "CUPOLA_DEVICE_COUNT is '" + std::string(wrong) +
                                "', which is ignored: it must be a number from 1 to 64",
                            "CUPOLA_WORKERS is '1025', which is ignored: it must be a number from 0 to 1024"}));
  }
  Variable count("CUPOLA_DEVICE_COUNT", "64"), workers("CUPOLA_WORKERS", "1024");
  EXPECT_EQ(read_settings().device_count, 64);
  EXPECT_EQ(read_settings().workers, 1024);
}

TEST(Settings, MisspeltWordsAreReportedWithThoseAllowed) {
  Variable rung("CUPOLA_RUNG", "thread"), code("CUPOLA_CODE", "PTX"), log("CUPOLA_LOG", "api,lunch"),
      processor("CUPOLA_PROCESSOR", "znver4");
  std::vector<std::string> problems;
  const Settings read = cupola::read_settings(problems);
  EXPECT_EQ(read.rung, Settings().rung);
  EXPECT_EQ(read.code, Settings().code);
  EXPECT_EQ(read.log, Settings().log);
  EXPECT_EQ(read.processor, Settings().processor);
  EXPECT_EQ(problems,
            (std::vector<std::string>{
                "CUPOLA_LOG is 'api,lunch', which is ignored: it must be none, or some of error, api, compile, "
                "launch, memory, cache, all, separated by commas",
                "CUPOLA_CODE is 'PTX', which is ignored: it must be one of kir, ptx",
                "CUPOLA_RUNG is 'thread', which is ignored: it must be threads",
                "CUPOLA_PROCESSOR is 'znver4', which is ignored: it must be one of x86-64, x86-64-v2, "
                "x86-64-v3, x86-64-v4",
            }));
}

TEST(Settings, NoneIsNoTopicAmongOthers) {
  for (const char* wrong : {"cache,none", "none,cache", "none,none", "none,"}) {
    Variable log("CUPOLA_LOG", wrong);
    std::vector<std::string> problems;
    EXPECT_EQ(cupola::read_settings(problems).log, Settings().log) << wrong;
    ASSERT_EQ(problems.size(), 1u) << wrong;
    EXPECT_NE(problems[0].find("it must be none, or some of error, api"), std::string::npos) << problems[0];
  }
}

TEST(Settings, AnyDeviceIsTaken) {
  for (const char* text : {"cpu", "metal", "null", "nothing"}) {
    Variable device("CUPOLA_DEVICE", text);
    EXPECT_EQ(read_settings().device, text);
  }
}

TEST(Settings, AllowedWordsAreTaken) {
  Variable rung("CUPOLA_RUNG", "threads");
  EXPECT_EQ(read_settings().rung, "threads");
  for (const char* text : {"kir", "ptx"}) {
    Variable code("CUPOLA_CODE", text);
    EXPECT_EQ(read_settings().code, text);
  }
  for (const char* text : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    Variable processor("CUPOLA_PROCESSOR", text);
    EXPECT_EQ(read_settings().processor, text);
  }
  for (const char* text : {"none", "all", "error", "api", "compile,launch", "memory,cache,", ","}) {
    Variable log("CUPOLA_LOG", text);
    EXPECT_EQ(read_settings().log, text);
  }
}

TEST(SettingsDeathTest, ProblemsAreLoggedOnce) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process that has not read its settings yet
  Variable workers("CUPOLA_WORKERS", "abc"), log("CUPOLA_LOG", "");
  const auto read_twice = [] {
    (void)log::enabled(log::Topic::Api);  // the log may be the first who asks
    (void)settings();
    (void)settings();
    std::_Exit(0);
  };
  EXPECT_EXIT(read_twice(), testing::ExitedWithCode(0), "^cupola: error: CUPOLA_WORKERS is 'abc'[^\n]*\n$");
}

}  // namespace
}  // namespace cupola
