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

}  // namespace
}  // namespace cupola::cpu
