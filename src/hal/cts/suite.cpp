#include "hal/cts/suite.h"

#include <set>

#include "hal/cts/test_case.h"

namespace cupola::hal::cts {
namespace {

std::string full_name(const cts::Test& test) {
  return std::string(test.suite) + "." + test.name;
}

class Runner final : public testing::Test {
 public:
  Runner(std::shared_ptr<const Backend> backend, const cts::Test& test) : backend_(std::move(backend)), test_(test) {}

  void TestBody() override {
    const auto unsupported = backend_->unsupported.find(full_name(test_));
    if (unsupported != backend_->unsupported.end()) GTEST_SKIP() << unsupported->second;
    if (test_.launches && !backend_->make_kernels) GTEST_SKIP() << backend_->no_kernels_reason;
    TestCase test_case(*backend_);
    test_.body(test_case);
  }

 private:
  const std::shared_ptr<const Backend> backend_;
  const cts::Test test_;
};

/// A reason must not outlive its test.
class UnsupportedTestsExist final : public testing::Test {
 public:
  UnsupportedTestsExist(std::shared_ptr<const Backend> backend, std::set<std::string> names)
      : backend_(std::move(backend)), names_(std::move(names)) {}

  void TestBody() override {
    for (const auto& [name, reason] : backend_->unsupported)
      EXPECT_TRUE(names_.contains(name)) << name << " is no test of the suite";
  }

 private:
  const std::shared_ptr<const Backend> backend_;
  const std::set<std::string> names_;
};

}  // namespace

bool register_backend(Backend backend) {
  const auto shared = std::make_shared<const Backend>(std::move(backend));
  std::set<std::string> names;
  for (const auto& tests : {memory_tests(), transfer_tests(), queue_tests(), semaphore_tests(), launch_tests()})
    for (const cts::Test& test : tests) {
      names.insert(full_name(test));
      testing::RegisterTest(
          (shared->name + "/" + test.suite).c_str(), test.name, nullptr, nullptr, __FILE__, __LINE__,
          [shared, test]() -> testing::Test* { return std::make_unique<Runner>(shared, test).release(); });
    }
  testing::RegisterTest(
      (shared->name + "/Suite").c_str(), "UnsupportedTestsExist", nullptr, nullptr, __FILE__, __LINE__,
      [shared, names]() -> testing::Test* { return std::make_unique<UnsupportedTestsExist>(shared, names).release(); });
  return true;
}

}  // namespace cupola::hal::cts
