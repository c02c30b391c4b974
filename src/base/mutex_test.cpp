#include "base/mutex.h"

#include <gtest/gtest.h>

#include <deque>
#include <thread>
#include <vector>

// Oracle: what std::mutex and std::condition_variable promise. A lost wake-up hangs and is caught by the test's time
// limit.

namespace cupola {
namespace {

constexpr int kThreads = 4;

void on_threads(const auto& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(body);
  for (std::thread& thread : threads) thread.join();
}

TEST(Mutex, LetsOneInAtATime) {
  constexpr int kRounds = 50'000;
  Mutex mutex;
  int count = 0;
  on_threads([&] {
    for (int i = 0; i < kRounds; ++i) {
      Lock lock(mutex);
      count = count + 1;
    }
  });
  EXPECT_EQ(count, kThreads * kRounds);
}

TEST(Mutex, WakesAllThatSleepOnIt) {
  Mutex mutex;
  int came = 0;
  std::vector<std::thread> threads;
  {
    Lock lock(mutex);
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        Lock own(mutex);
        ++came;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until they sleep
    EXPECT_EQ(came, 0);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(came, kThreads);
}

TEST(Mutex, MayEndAsSoonAsTheLastHolderLetItGo) {
  struct Shared {
    Mutex mutex;
    int users = 2;
  };
  for (int i = 0; i < 5000; ++i) {
    auto* const shared = new Shared;
    const auto leave = [shared] {
      bool is_last = false;
      {
        Lock lock(shared->mutex);
        is_last = --shared->users == 0;
      }
      if (is_last) delete shared;
    };
    std::thread other(leave);
    leave();
    other.join();
  }
}

// Items go from threads to threads, each told of one at a time.
TEST(Condition, LosesNoWakeUp) {
  constexpr int kItems = 20'000;
  Mutex mutex;
  Condition changed;
  std::deque<int> items;
  int64_t sum = 0;
  std::vector<std::thread> takers;
  for (int t = 0; t < kThreads; ++t)
    takers.emplace_back([&] {
      for (int i = 0; i < kItems; ++i) {
        Lock lock(mutex);
        while (items.empty()) changed.wait(lock);
        sum += items.front();
        items.pop_front();
      }
    });
  on_threads([&] {
    for (int i = 0; i < kItems; ++i) {
      Lock lock(mutex);
      items.push_back(i);
      changed.notify_one();
    }
  });
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(sum, int64_t{kThreads} * kItems * (kItems - 1) / 2);
}

TEST(Condition, TellsAll) {
  Mutex mutex;
  Condition changed;
  bool is_open = false;
  int through = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      Lock lock(mutex);
      while (!is_open) changed.wait(lock);
      ++through;
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  {
    Lock lock(mutex);
    is_open = true;
  }
  changed.notify_all();  // without the lock
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(through, kThreads);
}

TEST(Condition, WaitsNoLongerThanAsked) {
  Mutex mutex;
  Condition changed;
  Lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(changed.wait_for(lock, std::chrono::milliseconds(3)));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(3));
}

TEST(Condition, SaysThatItWasToldInTime) {
  Mutex mutex;
  Condition changed;
  bool is_told = false;
  Lock lock(mutex);
  std::thread other([&] {
    Lock own(mutex);  // once the other one waits
    is_told = true;
    changed.notify_one();
  });
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(60)));
  EXPECT_TRUE(is_told);
  lock.unlock();
  other.join();
}

}  // namespace
}  // namespace cupola
