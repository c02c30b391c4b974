#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <thread>

#include "backend/cpu/run/device_fixture.h"
#include "backend/cpu/run/sanitizer.h"

// The machine gives no more memory or threads: an error of the kernel or the launch, and the process lives. Oracle: the
// limit that the test itself sets.

namespace cupola::cpu {
namespace {

using Scarcity = DeviceFixture;
using Counter = std::atomic<uint32_t>;

#if defined(__linux__) && !CUPOLA_ASAN && !CUPOLA_TSAN

/// While it lives, the process may have only so many bytes more of addresses.
class AddressLimit {
 public:
  explicit AddressLimit(uint64_t more) {
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = pages * 4096 + more;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressLimit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

void print_widely(ThreadContext* c, const std::byte* block) {
  const char* text = "";
  c->services->vprintf(c, "%100000000s", &text);
  ++*parameters_of<Counter*>(block);
}

TEST_F(Scarcity, AServiceWithoutMemoryFailsTheKernel) {
  Counter after{0};
  launch([](ThreadContext*, const std::byte*) {}, {{64}, {64}}, 0);
  expect_success();
  {
    const AddressLimit limit(uint64_t{80} << 20);  // a worker's first stacks fit, what is printed does not
    launch(print_widely, {{1}, {1}}, &after);
    const Result<> result = synchronize();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::LaunchFailed);
    EXPECT_EQ(result.error().message, "kernel native, block (0,0,0), thread (0,0,0): no host memory");
  }
  while (queue_->progress()->value() < last_) std::this_thread::yield();
  EXPECT_EQ(after.load(), 0u);
  device_->clear_fault();
  launch([](ThreadContext*, const std::byte* block) { ++*parameters_of<Counter*>(block); }, {{4}, {4}}, &after);
  expect_success();
  EXPECT_EQ(after.load(), 16u);
}
#endif

#if defined(__GLIBC__)
/// While it lives, no thread can be started: each would want a stack that no machine has.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 50);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

void count_up(ThreadContext*, const std::byte* block) {
  ++*parameters_of<Counter*>(block);
}

TEST_F(Scarcity, NoThreadAtAllFailsTheCommand) {
  Counter count{0};
  {
    const NoThreads none;
    launch(count_up, {{4}, {4}}, &count);
    const Result<> result = synchronize();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::OperatingSystem);
    EXPECT_NE(result.error().message.find("cannot start the device's thread cupola-0"), std::string::npos);
    device_->clear_fault();
    last_ = queue_->submit(hal::HostCall{[&] { ++count; }});
    EXPECT_FALSE(synchronize());
    device_->clear_fault();
  }
  EXPECT_EQ(count.load(), 0u);
  launch(count_up, {{4}, {4}}, &count);
  expect_success();
  last_ = queue_->submit(hal::HostCall{[&] { ++count; }});
  expect_success();
  EXPECT_EQ(count.load(), 17u);
}

TEST_F(Scarcity, FewerThreadsDoTheWork) {
  Counter count{0};
  launch(count_up, {{1}, {1}}, &count);
  expect_success();  // one worker
  const NoThreads none;
  launch(count_up, {{64}, {32}}, &count);
  expect_success();
  EXPECT_EQ(count.load(), 1 + 64u * 32);
}
#endif

}  // namespace
}  // namespace cupola::cpu
