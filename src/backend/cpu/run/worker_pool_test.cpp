#include "backend/cpu/run/worker_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/worker.h"

// Works that are given up, and who runs them. Oracle: the contracts of Work, of Work::Owner and of WorkerPool.

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

/// Items that say who runs them, and wait until they may end.
class Shared final : public Work, public Work::Owner {
 public:
  using May = std::function<bool(const Shared&)>;

  /// `may_go_on`: asked by each item until it is true, or for 20 seconds.
  Shared(uint64_t count, CpuDomain& domain, May may_go_on)
      : Work(count, domain, *static_cast<Owner*>(this)), may_go_on_(std::move(may_go_on)) {}

  Ran run(Worker& worker, uint64_t, uint64_t) override {
    const bool is_host = std::this_thread::get_id() == host_;
    ++(is_host ? by_host : by_worker[worker.index()]);
    if (!is_host) until([&] { return may_go_on_(*this); });
    return {1, 1};
  }

  template <typename Over>
  static bool until(Over over) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!over() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return over();
  }

  bool is_done() const { return done_; }

  std::atomic<uint64_t> by_host{0}, by_worker[2] = {};

 private:
  void work_done() override { done_ = true; }
  const May may_go_on_;
  const std::thread::id host_ = std::this_thread::get_id();
  std::atomic<bool> done_{false};
};

class PoolOfTwo : public testing::Test {
 protected:
  static constexpr uint64_t kItems = 1000;

  /// From now on the pool knows that hosts help.
  void let_it_know() {
    std::atomic<bool> tried{false};
    Shared work(kItems, domain_, [&](const Shared&) { return tried.load(); });
    ASSERT_TRUE(pool_.submit(work));
    pool_.help_now(work, [] { return true; });
    tried = true;
    ASSERT_TRUE(Shared::until([&] { return work.is_done(); }));
  }

  ExecutionEnvironment environment_;
  CpuDomain domain_{1 << 20};
  WorkerPool pool_{2, environment_};
};

TEST_F(PoolOfTwo, TheLastWorkersPlaceIsLeftToAHostThatHelps) {
  let_it_know();
  constexpr int kRounds = 100;
  int helped = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // until the workers sleep
    std::atomic<bool> tried{false};
    Shared work(kItems, domain_, [&](const Shared&) { return tried.load(); });
    ASSERT_TRUE(pool_.submit(work));
    ASSERT_TRUE(Shared::until([&] { return work.by_worker[0].load() + work.by_worker[1].load() != 0; }));
    for (int i = 0; i < 100 && work.by_host.load() == 0; ++i) {
      std::this_thread::yield();
      pool_.help_now(work, [] { return false; });
    }
    tried = true;
    ASSERT_TRUE(Shared::until([&] { return work.is_done(); }));
    helped += work.by_host.load() != 0;
  }
  EXPECT_GT(helped, kRounds / 2);
}

TEST_F(PoolOfTwo, WhereNoHostComesTheLastWorkerIsWoken) {
  let_it_know();
  Shared work(kItems, domain_, [](const Shared& all) {
    const uint64_t one = all.by_worker[0].load(), other = all.by_worker[1].load();
    return (one != 0 && other != 0) || std::max(one, other) < kItems / 2;  // that is more than a first range
  });
  ASSERT_TRUE(pool_.submit(work));
  EXPECT_TRUE(Shared::until([&] { return work.is_done(); }));
  EXPECT_NE(work.by_worker[0].load(), 0u);
  EXPECT_NE(work.by_worker[1].load(), 0u);
}

/// Two works, the second of which the end of the first brings, as in a queue: on a worker.
class InARow final : private Work::Owner {
 public:
  InARow(WorkerPool& pool, CpuDomain& domain, std::function<bool(const InARow&)> may_end)
      : pool_(pool), may_end_(std::move(may_end)), first_(*this, domain, 1), second_(*this, domain, 1000) {}

  Result<> begin() { return pool_.submit(first_); }
  void end_first() { may_end_first_ = true; }
  bool is_done() const { return done_; }
  bool help(HostPatience& patience, const std::function<bool()>& enough) { return pool_.help(*this, enough, patience); }

  std::atomic<bool> has_begun{false};                   ///< the first, on a worker
  std::atomic<uint64_t> by_host{0}, by_worker[2] = {};  ///< items of the second

 private:
  struct Items final : Work {
    Items(InARow& all, CpuDomain& domain, uint64_t count) : Work(count, domain, all), all(all) {}
    Ran run(Worker& worker, uint64_t, uint64_t) override {
      all.run(*this, worker);
      return {1, 1};
    }
    InARow& all;
  };

  void run(const Items& items, const Worker& worker) {
    if (&items == &first_) {
      has_begun = true;
      return void(Shared::until([this] { return may_end_first_.load(); }));
    }
    ++(std::this_thread::get_id() == host_ ? by_host : by_worker[worker.index()]);
    Shared::until([this] { return may_end_(*this); });
  }
  void work_done() override {
    if (std::exchange(is_second_, true))
      done_ = true;
    else
      EXPECT_TRUE(pool_.submit(second_));
  }

  WorkerPool& pool_;
  const std::function<bool(const InARow&)> may_end_;
  const std::thread::id host_ = std::this_thread::get_id();
  Items first_, second_;
  bool is_second_ = false;
  std::atomic<bool> may_end_first_{false}, done_{false};
};

// The host sleeps by then.
TEST_F(PoolOfTwo, WhatAWorkerBringsIsNotLeftToAHost) {
  let_it_know();
  const auto both_came = [](const InARow& all) { return all.by_worker[0].load() != 0 && all.by_worker[1].load() != 0; };
  InARow works(pool_, domain_, both_came);
  ASSERT_TRUE(works.begin());
  std::this_thread::sleep_for(std::chrono::milliseconds(10));  // until the other worker sleeps
  works.end_first();
  EXPECT_TRUE(Shared::until([&] { return both_came(works); }));
  EXPECT_TRUE(Shared::until([&] { return works.is_done(); }));
}

// It waits for something else.
TEST_F(PoolOfTwo, WhatIsLeftToAHostThatFallsAsleepAWorkerHas) {
  const auto both_came = [](const InARow& all) { return all.by_worker[0].load() != 0 && all.by_worker[1].load() != 0; };
  for (int round = 0; round < 10; ++round) {  // in the first one the pool learns that hosts help
    InARow works(pool_, domain_, both_came);
    ASSERT_TRUE(works.begin());
    ASSERT_TRUE(Shared::until([&] { return works.has_begun.load(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until the other worker sleeps
    Shared other(1, domain_, [](const Shared&) { return true; });
    HostPatience patience;
    int looks = 0;
    EXPECT_FALSE(pool_.help(
        other,
        [&] {
          if (++looks == 10) works.end_first();
          return false;
        },
        patience));
    works.end_first();
    ASSERT_TRUE(Shared::until([&] { return both_came(works); }));
    ASSERT_TRUE(Shared::until([&] { return works.is_done(); }));
  }
}

TEST_F(PoolOfTwo, AHostThatWaitsLooksForMore) {
  constexpr int kMostRounds = 1000;  // on a busy machine the host may sleep first, or the other worker not yet
  HostPatience patience;
  bool helped = false;
  for (int round = 0; round < kMostRounds && !helped; ++round) {
    std::atomic<bool> over{false};
    InARow works(pool_, domain_, [&](const InARow& all) { return all.by_host.load() != 0 || over.load(); });
    ASSERT_TRUE(works.begin());
    ASSERT_TRUE(Shared::until([&] { return works.has_begun.load(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(2 + round % 16));  // until the other worker sleeps
    int looks = 0;
    works.help(patience, [&] {
      if (++looks == 10) works.end_first();
      return works.is_done();
    });
    works.end_first();
    over = true;
    ASSERT_TRUE(Shared::until([&] { return works.is_done(); }));
    helped = works.by_host.load() != 0;
  }
  EXPECT_TRUE(helped);
}

/// Runs on the thread that brings it, if it is short.
class Brought final : public Work, private Work::Owner {
 public:
  Brought(
      uint64_t count, CpuDomain& domain, bool is_short, std::function<void()> each = [] {})
      : Work(count, domain, *static_cast<Owner*>(this)), is_short_(is_short), each_(std::move(each)) {}

  bool is_short() const override { return is_short_; }
  Ran run(Worker&, uint64_t first, uint64_t) override {
    EXPECT_EQ(first, ran++);
    is_brought_here_ &= std::this_thread::get_id() == bringer_;
    each_();
    return {1, 1};
  }

  bool is_brought_here() const { return is_brought_here_; }
  std::atomic<uint64_t> ran{0};
  std::atomic<bool> is_done{false};

 private:
  void work_done() override { is_done = true; }
  const bool is_short_;
  const std::function<void()> each_;
  const std::thread::id bringer_ = std::this_thread::get_id();
  bool is_brought_here_ = true;
};

TEST_F(Pool, AShortWorkRunsWhereItIsBrought) {
  Brought work(7, domain_, true);
  EXPECT_TRUE(pool_.run_here(work));
  EXPECT_EQ(work.ran.load(), 7u);
  EXPECT_TRUE(work.is_brought_here());
  EXPECT_FALSE(work.is_done.load());  // the owner knows
}

TEST_F(Pool, OtherWorksDoNot) {
  Brought work(7, domain_, false);
  EXPECT_FALSE(pool_.run_here(work));
  EXPECT_EQ(work.ran.load(), 0u);
}

TEST_F(Pool, AShortWorkThatIsGivenUpEndsThere) {
  Brought work(7, domain_, true, [&work] { work.fail(); });
  EXPECT_TRUE(pool_.run_here(work));
  EXPECT_EQ(work.ran.load(), 1u);
}

TEST_F(Pool, AFaultOfTheDomainEndsAShortWork) {
  Brought work(7, domain_, true, [&] { domain_.faults.record({ErrorCode::LaunchFailed, "a test's"}); });
  EXPECT_TRUE(pool_.run_here(work));
  EXPECT_EQ(work.ran.load(), 1u);
}

// There a fault would end the process.
TEST_F(Pool, AThreadThatBlocksSignalsRunsNoWork) {
  Brought work(1, domain_, true);
  bool did = true;
  std::thread([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    did = pool_.run_here(work);
  }).join();
  EXPECT_FALSE(did);
}

TEST_F(Pool, OneThreadAtATimeRunsShortWorks) {
  Brought other(1, domain_, true);
  bool did = true;
  Brought work(1, domain_, true, [&] { std::thread([&] { did = pool_.run_here(other); }).join(); });
  EXPECT_TRUE(pool_.run_here(work));
  EXPECT_FALSE(did);
  EXPECT_TRUE(pool_.run_here(other));
}

TEST_F(Pool, ThreadsThatRunAWorkBringNoneToThemselves) {
  Brought other(1, domain_, true);
  bool did = true;
  Brought work(1, domain_, false, [&] { did = pool_.run_here(other); });
  ASSERT_TRUE(pool_.submit(work));
  ASSERT_TRUE(Shared::until([&] { return work.is_done.load(); }));
  EXPECT_FALSE(did);
}

}  // namespace
}  // namespace cupola::cpu
