#include "base/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

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

TEST(Settings, OffSwitchesOff) {
  Variable cache("CUPOLA_CACHE", "off");
  EXPECT_FALSE(read_settings().cache);
}

}  // namespace
}  // namespace cupola
