#include "hal/cts/suite.h"

#include "hal/cts/test_case.h"

namespace cupola::hal::cts {
namespace {

class Runner final : public testing::Test {
 public:
  Runner(std::shared_ptr<const Backend> backend, const cts::Test& test) : backend_(std::move(backend)), test_(test) {}

  void TestBody() override {
    const auto unsupported = backend_->unsupported.find(std::string(test_.suite) + "." + test_.name);
    if (unsupported != backend_->unsupported.end()) GTEST_SKIP() << unsupported->second;
    if (test_.launches && !backend_->make_kernels) GTEST_SKIP() << backend_->no_kernels_reason;
    TestCase test_case(*backend_);
    test_.body(test_case);
  }

 private:
  const std::shared_ptr<const Backend> backend_;
  const cts::Test test_;
};

}  // namespace

bool register_backend(Backend backend) {
  const auto shared = std::make_shared<const Backend>(std::move(backend));
  for (const auto& tests : {memory_tests(), transfer_tests(), queue_tests(), semaphore_tests(), launch_tests()})
    for (const cts::Test& test : tests)
      testing::RegisterTest(
          (shared->name + "/" + test.suite).c_str(), test.name, nullptr, nullptr, __FILE__, __LINE__,
          [shared, test]() -> testing::Test* { return std::make_unique<Runner>(shared, test).release(); });
  return true;
}

}  // namespace cupola::hal::cts
