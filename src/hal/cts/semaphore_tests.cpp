#include <atomic>
#include <chrono>
#include <thread>

#include "hal/cts/test_case.h"

// Oracle: the contract in hal/semaphore.h.

namespace cupola::hal::cts {
namespace {

void values_only_grow(TestCase& t) {
  auto semaphore = t.device->create_semaphore(5);
  EXPECT_EQ(semaphore->value(), 5u);
  semaphore->signal(3);
  EXPECT_EQ(semaphore->value(), 5u);
  semaphore->signal(uint64_t{1} << 40);
  EXPECT_EQ(semaphore->value(), uint64_t{1} << 40);
  EXPECT_TRUE(semaphore->wait(6));
}

void a_host_thread_waits_for_a_host_thread(TestCase& t) {
  auto semaphore = t.device->create_semaphore(0);
  std::atomic<bool> signalled{false};
  std::thread signaller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    signalled = true;
    semaphore->signal(7);
  });
  EXPECT_TRUE(semaphore->wait(7));
  EXPECT_TRUE(signalled);
  signaller.join();
}

void when_calls_once_and_in_time(TestCase& t) {
  auto semaphore = t.device->create_semaphore(1);
  std::vector<int> calls;
  semaphore->when(1, [&] { calls.push_back(1); });
  EXPECT_EQ(calls, std::vector<int>{1});
  semaphore->when(3, [&] { calls.push_back(3); });
  semaphore->when(2, [&] { calls.push_back(2); });
  semaphore->signal(2);
  EXPECT_EQ(calls, (std::vector<int>{1, 2}));
  semaphore->signal(9);
  semaphore->signal(10);
  EXPECT_EQ(calls, (std::vector<int>{1, 2, 3}));
}

void waiters_of_any_order_are_called_by_value(TestCase& t) {
  auto semaphore = t.device->create_semaphore(0);
  std::vector<uint64_t> calls, expected;
  for (uint64_t i = 0; i < 1000; ++i) {
    const uint64_t value = 1 + i * 7919 % 1000;  // each of 1 to 1000 once
    semaphore->when(value, [&calls, value] { calls.push_back(value); });
  }
  for (uint64_t value = 1; value <= 1000; ++value) {
    if (value % 3 == 0) semaphore->signal(value);
    expected.push_back(value);
  }
  EXPECT_EQ(calls.size(), 999u);
  semaphore->signal(1000);
  EXPECT_EQ(calls, expected);
}

// A wake-up that is lost hangs, which the test's time limit catches.
void many_threads_wait_for_many_values(TestCase& t) {
  constexpr uint64_t kValues = 2000;
  auto semaphore = t.device->create_semaphore(0);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 6; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t value = 1 + thread; value <= kValues; value += 1 + thread) {
        EXPECT_TRUE(semaphore->wait(value));
        EXPECT_GE(semaphore->value(), value);
      }
    });
  for (uint64_t value = 1; value <= kValues; ++value) {
    semaphore->signal(value);
    if (value % 16 == 0) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
}

void queues_wait_for_the_host(TestCase& t) {
  auto semaphore = t.device->create_semaphore(0);
  std::atomic<bool> ran{false};
  t.queue->submit(Wait{semaphore, 4});
  const uint64_t last = t.queue->submit(HostCall{[&] { ran = true; }});
  semaphore->signal(3);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(ran);
  semaphore->signal(4);
  t.expect_done(*t.queue, last);
  EXPECT_TRUE(ran);
}

void queues_play_ping_pong(TestCase& t) {
  auto ball = t.device->create_semaphore(0);
  auto other = t.device->create_queue(0).value();
  std::vector<int> order;
  constexpr uint64_t kRounds = 2000;
  for (uint64_t i = 0; i < kRounds; ++i) {
    t.queue->submit(Wait{ball, 2 * i});
    t.queue->submit(Signal{ball, 2 * i + 1});
    other->submit(Wait{ball, 2 * i + 1});
    other->submit(Signal{ball, 2 * i + 2});
  }
  EXPECT_TRUE(ball->wait(2 * kRounds));
  t.expect_done(*t.queue, 2 * kRounds);
  t.expect_done(*other, 2 * kRounds);
}

void a_signal_comes_after_what_is_before(TestCase& t) {
  auto semaphore = t.device->create_semaphore(0);
  for (uint64_t i = 1; i <= 200; ++i) {
    auto done = std::make_shared<std::atomic<bool>>(false);
    t.queue->submit(HostCall{[done] { *done = true; }});
    t.queue->submit(Signal{semaphore, i});
    EXPECT_TRUE(semaphore->wait(i));
    EXPECT_TRUE(*done);
  }
}

}  // namespace

std::vector<Test> semaphore_tests() {
  return {
      {"Semaphore", "ValuesOnlyGrow", false, values_only_grow},
      {"Semaphore", "AHostThreadWaitsForAHostThread", false, a_host_thread_waits_for_a_host_thread},
      {"Semaphore", "WhenCallsOnceAndInTime", false, when_calls_once_and_in_time},
      {"Semaphore", "WaitersOfAnyOrderAreCalledByValue", false, waiters_of_any_order_are_called_by_value},
      {"Semaphore", "ManyThreadsWaitForManyValues", false, many_threads_wait_for_many_values},
      {"Semaphore", "QueuesWaitForTheHost", false, queues_wait_for_the_host},
      {"Semaphore", "QueuesPlayPingPong", false, queues_play_ping_pong},
      {"Semaphore", "ASignalComesAfterWhatIsBefore", false, a_signal_comes_after_what_is_before},
  };
}

}  // namespace cupola::hal::cts
