#include "backend/cpu/run/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/worker.h"

// Works that are given up. Oracle: the contract of Work and of Work::Owner.

namespace cupola::cpu {
namespace {

class Items final : public Work, private Work::Owner {
 public:
  Items(uint64_t count, CpuDomain& domain) : Work(count, domain, *static_cast<Owner*>(this)) {}

  Ran run(Worker&, uint64_t, uint64_t) override {
    ++begun;
    return {1, 1};
  }

  bool ends_within(std::chrono::seconds time) const {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!done_.load() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return done_.load();
  }

  std::atomic<uint64_t> begun{0};

 private:
  void work_done() override { done_ = true; }
  std::atomic<bool> done_{false};
};

class Pool : public testing::Test {
 protected:
  ExecutionEnvironment environment_;
  CpuDomain domain_{1 << 20};
  WorkerPool pool_{4, environment_};
};

// Several threads of a grid fault at about the same time.
TEST_F(Pool, WorksThatManyThreadsGiveUpAtOnceEnd) {
  constexpr int kThreads = 3, kRounds = 100;
  for (int i = 0; i < kRounds; ++i) {
    std::deque<Items> works;
    for (int w = 0; w < 64; ++w) ASSERT_TRUE(pool_.submit(works.emplace_back(1'000'000'000, domain_)));
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        ++ready;
        while (ready.load() < kThreads) std::this_thread::yield();
        pool_.fail_all(domain_);
      });
    for (std::thread& thread : threads) thread.join();
    for (Items& each : works) ASSERT_TRUE(each.ends_within(std::chrono::seconds(20))) << i;
  }
}

// The fault comes between the queue's look and the submission.
TEST_F(Pool, AWorkThatComesAfterTheFaultIsGivenUp) {
  domain_.faults.record({ErrorCode::LaunchFailed, "a test's"});
  Items items(1000, domain_);
  ASSERT_TRUE(pool_.submit(items));
  EXPECT_TRUE(items.ends_within(std::chrono::seconds(20)));
  EXPECT_EQ(items.begun.load(), 0u);
}

// Which items have begun when an item begins.
class Ordered final : public Work, private Work::Owner {
 public:
  Ordered(uint64_t count, CpuDomain& domain) : Work(count, domain, *static_cast<Owner*>(this)), has_begun_(count) {}

  bool one_at_a_time() const override { return true; }

  /// Waits for the item before it.
  Ran run(Worker&, uint64_t first, uint64_t most) override {
    is_one_each_ = is_one_each_ && most == 1;
    while (first != 0 && !has_begun_[first - 1].load()) std::this_thread::yield();
    has_begun_[first] = true;
    return {1, 1};
  }

  bool is_one_each() const { return is_one_each_; }
  bool is_done() const { return done_; }

 private:
  void work_done() override { done_ = true; }
  std::vector<std::atomic<bool>> has_begun_;
  std::atomic<bool> is_one_each_{true}, done_{false};
};

TEST_F(Pool, ItemsThatMayWaitForOthersBeginAfterThem) {
  Ordered items(10'000, domain_);
  ASSERT_TRUE(pool_.submit(items));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!items.is_done() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_TRUE(items.is_done());
  EXPECT_TRUE(items.is_one_each());
}

}  // namespace
}  // namespace cupola::cpu
