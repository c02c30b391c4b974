#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "backend/cpu/run/device_fixture.h"
#include "backend/cpu/run/guarded_call.h"
#include "base/format.h"

// What the program's own threads do for the device: small transfers, parts of the grids they wait for, and what that
// must not do to them. Oracle: the contracts in hal/queue.h and guarded_call.h.

namespace cupola::cpu {
namespace {

using HostThreads = DeviceFixture;
using Counter = std::atomic<uint32_t>;

uint64_t thread_count() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("Threads:")) return std::stoull(line.substr(8));
  return 0;
}

TEST_F(HostThreads, DoSmallTransfersOfAnIdleQueueThemselves) {
  const uint64_t threads = thread_count();
  std::vector<uint32_t> from(16384, 7), to(16384);
  const auto address = [](auto& vector) { return reinterpret_cast<uint64_t>(vector.data()); };
  last_ = queue_->submit(hal::Copy{.destination = address(to), .source = address(from), .width = 65536});
  EXPECT_EQ(queue_->progress()->value(), last_);
  EXPECT_EQ(to, from);
  last_ = queue_->submit(hal::Fill{.destination = address(to), .value = 9, .value_bytes = 4, .width = 16384});
  EXPECT_EQ(queue_->progress()->value(), last_);
  EXPECT_EQ(to, std::vector<uint32_t>(16384, 9));
  EXPECT_EQ(thread_count(), threads);
}

TEST_F(HostThreads, SurviveASmallCopyFromNowhere) {
  uint32_t to = 0;
  for (int i = 0; i < 100; ++i) {
    last_ = queue_->submit(hal::Copy{.destination = reinterpret_cast<uint64_t>(&to), .source = 0x40, .width = 4});
    const Result<> result = synchronize();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::IllegalAddress);
    EXPECT_EQ(result.error().message, "copy of 4 bytes from 0x40 to " +
                                          formatted("{:#x}", reinterpret_cast<uint64_t>(&to)) +
                                          ": illegal memory access at 0x40 (read)");
    device_->clear_fault();
  }
}

struct Seen {
  std::atomic<uint32_t>* here;
  std::atomic<uint32_t>* wrong;
};

/// A thread that waits for this, when it is asked; and whether a sum rounds to nearest.
thread_local bool waits_here = false;
void where_and_how(ThreadContext*, const std::byte* block) {
  const Seen& seen = parameters_of<Seen>(block);
  if (waits_here) ++*seen.here;
  volatile float one = 1, tiny = 1e-8f;
  if (one + tiny != 1) ++*seen.wrong;
}

TEST_F(HostThreads, DoAPartOfWhatTheyWaitFor) {
  if (device_->properties().multiprocessors < 2) GTEST_SKIP() << "the one worker is awake for the launch";
  Counter here{0}, wrong{0};
  waits_here = true;
  fesetround(FE_UPWARD);
  // The worker that is woken may be quicker, so more than once.
  for (int i = 0; i < 2000 && here.load() < 20; ++i) {
    launch(where_and_how, {{64}, {8}}, Seen{&here, &wrong});
    if (const Result<> result = synchronize(); !result) ADD_FAILURE() << result.error().message;
    EXPECT_EQ(fegetround(), FE_UPWARD);
    if (i % 16 == 15) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the workers fall asleep
  }
  fesetround(FE_TONEAREST);
  waits_here = false;
  EXPECT_GE(here.load(), 20u);
  EXPECT_EQ(wrong.load(), 0u);
}

__attribute__((no_sanitize("address", "undefined"))) void fail_here(ThreadContext*, const std::byte* block) {
  const Seen& seen = parameters_of<Seen>(block);
  if (waits_here) ++*seen.here;
  *reinterpret_cast<volatile uint32_t*>(24) = 1;
}

TEST_F(HostThreads, SurviveTheFaultsOfTheirPart) {
  if (device_->properties().multiprocessors < 2) GTEST_SKIP() << "the one worker is awake for the launch";
  Counter here{0}, wrong{0};
  waits_here = true;
  for (int i = 0; i < 2000 && here.load() < 20; ++i) {
    launch(fail_here, {{1}, {1}}, Seen{&here, &wrong});
    const Result<> result = synchronize();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message,
              "kernel native, block (0,0,0), thread (0,0,0): illegal memory access at 0x18 (write)");
    while (queue_->progress()->value() < last_) std::this_thread::yield();
    device_->clear_fault();
    if (i % 16 == 15) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  waits_here = false;
  EXPECT_GE(here.load(), 20u);
}

void wait_for_flag(ThreadContext*, const std::byte* block) {
  while (parameters_of<Counter*>(block)->load() == 0) {
  }
}
void set_flag(ThreadContext*, const std::byte* block) {
  parameters_of<Counter*>(block)->store(1);
}

// A grid that the first one's end releases must not wait for the thread that ran the first one and goes on with the
// next, which waits for it. A hang is caught by the test's time limit.
TEST_F(HostThreads, DoNotHoldUpWhatTheyRelease) {
  if (device_->properties().multiprocessors < 2) GTEST_SKIP() << "one worker runs one block after the other";
  const auto other = device_->create_queue(0).value();
  Counter unused{0};
  for (int i = 0; i < 200; ++i) {
    Counter flag{0};
    hal::Command commands[] = {make_launch(set_flag, {{1}, {1}}, &unused),
                               make_launch(wait_for_flag, {{1}, {1}}, &flag)};
    last_ = queue_->enqueue(commands);
    other->submit(hal::Wait{queue_->progress(), last_ - 1});
    other->submit(make_launch(set_flag, {{1}, {1}}, &flag));
    if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the workers fall asleep
    queue_->start();
    expect_success();
  }
}

TEST_F(HostThreads, ManyWaitForOneQueueAtOnce) {
  Counter ran{0};
  const auto count_up = [](ThreadContext*, const std::byte* block) { ++*parameters_of<Counter*>(block); };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const Result<> result = queue_->progress()->wait(queue_->submit(make_launch(count_up, {{5}, {3}}, &ran)));
        EXPECT_TRUE(result) << result.error().message;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran.load(), 4u * 500 * 15);
}

TEST_F(HostThreads, OfOneDomainDoNotHoldUpAnother) {
  std::atomic<bool> released{false};
  const auto other = device_->create_queue(0, device_->create_domain()).value();
  last_ = queue_->submit(hal::HostCall{[&] {
    while (!released) std::this_thread::yield();
  }});
  EXPECT_TRUE(other->progress()->wait(other->submit(hal::HostCall{[] {}})));
  EXPECT_EQ(queue_->progress()->value(), 0u);
  released = true;
  expect_success();
}

TEST_F(HostThreads, ForHostCallsEndWithoutWorkAndStartAgain) {
  const uint64_t before = thread_count();
  for (int round = 0; round < 2; ++round) {
    std::atomic<int> calls{0};
    last_ = queue_->submit(hal::HostCall{[&] { ++calls; }});
    expect_success();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(thread_count(), before + 1);
    for (int i = 0; i < 1000 && thread_count() != before; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(thread_count(), before);
  }
  {
    auto domain = device_->create_domain();
    auto queue = device_->create_queue(0, std::move(domain)).value();
    EXPECT_TRUE(queue->progress()->wait(queue->submit(hal::HostCall{[] {}})));
  }
  for (int i = 0; i < 1000 && thread_count() != before; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(thread_count(), before);
}

// Instrumented, it would fault at the address's shadow.
__attribute__((no_sanitize("address", "undefined"))) void store_at(void* address) {
  *reinterpret_cast<volatile char*>(*static_cast<uint64_t*>(address)) = 1;
}

TEST(GuardedCall, GivesTheFaultAndGoesOn) {
  for (int i = 0; i < 1000; ++i) {
    uint64_t address = 0x30;
    const Result<> result = call_guarded(store_at, &address);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::IllegalAddress);
    EXPECT_EQ(result.error().message, "illegal memory access at 0x30 (write)");
    int done = 0;
    EXPECT_TRUE(call_guarded([](void* argument) { *static_cast<int*>(argument) = 5; }, &done));
    EXPECT_EQ(done, 5);
  }
}

}  // namespace
}  // namespace cupola::cpu
