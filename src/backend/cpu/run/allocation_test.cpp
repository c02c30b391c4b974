#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "backend/cpu/run/device_fixture.h"
#include "backend/cpu/run/sanitizer.h"

// What the launch path takes from the process's memory. Oracle: operator new itself, replaced for the whole program.

#if !CUPOLA_ASAN && !CUPOLA_TSAN

namespace {

std::atomic<uint64_t> count{0};
std::atomic<uint64_t> first_denied{UINT64_MAX}, end_of_denied{UINT64_MAX};  ///< by their numbers
constinit thread_local bool denied = false;

void* take(size_t bytes, size_t alignment) {
  const uint64_t number = count.fetch_add(1, std::memory_order_relaxed);
  void* memory = nullptr;
  if (denied || (number >= first_denied && number < end_of_denied) ||
      posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) != 0)
    throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) {
  return take(bytes, 16);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  free(memory);
}

namespace cupola::cpu {
namespace {

using Allocations = DeviceFixture;
using Counter = std::atomic<uint32_t>;

/// While it lives, operator new throws std::bad_alloc on this thread.
class NoAllocations {
 public:
  NoAllocations() { denied = true; }
  ~NoAllocations() { denied = false; }
  NoAllocations(const NoAllocations&) = delete;
  NoAllocations& operator=(const NoAllocations&) = delete;
};

/// While it lives, operator new throws std::bad_alloc on all threads: after `before` calls, `times` times.
class SomeAllocationsFail {
 public:
  SomeAllocationsFail(uint64_t before, uint64_t times) {
    first_ = count.load() + before;
    end_of_denied = times > UINT64_MAX - first_ ? UINT64_MAX : first_ + times;
    first_denied = first_;
  }
  ~SomeAllocationsFail() {
    first_denied = UINT64_MAX;
    end_of_denied = UINT64_MAX;
  }
  SomeAllocationsFail(const SomeAllocationsFail&) = delete;
  SomeAllocationsFail& operator=(const SomeAllocationsFail&) = delete;

  /// Whether one has.
  bool came_to_it() const { return count.load() > first_; }

 private:
  uint64_t first_ = 0;
};

void count_up(ThreadContext* c, const std::byte* block) {
  c->services->barrier(c, 0, 0, 1);
  ++*parameters_of<Counter*>(block);
}

TEST_F(Allocations, SteadyLaunchesMakeNone) {
  Counter threads{0};
  const hal::Launch command = make_launch(count_up, {{4}, {32}}, &threads);
  uint32_t from = 1, to = 0;
  const auto other = device_->create_queue(0).value();
  const auto round = [&] {
    for (int i = 0; i < 50; ++i) {
      last_ = queue_->submit(command);
      last_ = queue_->submit(hal::Copy{
          .destination = reinterpret_cast<uint64_t>(&to), .source = reinterpret_cast<uint64_t>(&from), .width = 4});
    }
    last_ = other->submit(hal::Wait{queue_->progress(), last_});
    EXPECT_TRUE(other->progress()->wait(last_));
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(queue_->progress()->wait(queue_->submit(command)));
  };
  // The queue has to have been as long, and every worker to have had as many stacks and blocks, as ever.
  const auto gate = device_->create_semaphore(0);
  queue_->submit(hal::Wait{gate, 1});
  for (int i = 0; i < 200; ++i) last_ = queue_->submit(command);
  gate->signal(1);
  expect_success();
  threads = 0;
  // A worker may come to its first block, or to its first two at once, late: at most so often.
  constexpr int kSeries = 10, kRounds = 100;
  uint32_t rounds = 0;
  uint64_t made = 1;
  for (int series = 0; series < kSeries && made != 0; ++series) {
    const uint64_t before = count.load();
    for (int i = 0; i < kRounds; ++i) round();
    rounds += kRounds;
    made = count.load() - before;
    EXPECT_TRUE(series == 0 || made < 10) << made << " in " << kRounds << " rounds of 200 commands";
  }
  EXPECT_EQ(made, 0u);
  EXPECT_EQ(threads.load(), rounds * 100 * 128);
}

TEST_F(Allocations, WithoutMemoryACommandFailsAndTheQueueGoesOn) {
  Counter threads{0};
  hal::Command first = make_launch(count_up, {{4}, {32}}, &threads);
  last_ = queue_->enqueue(std::span(&first, 1));
  {
    const NoAllocations none;
    queue_->start();  // would start the first worker
  }
  const Result<> result = synchronize();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::OutOfMemory);
  EXPECT_EQ(queue_->progress()->value(), 1u);
  device_->clear_fault();

  hal::Command second = make_launch(count_up, {{4}, {32}}, &threads);
  {
    const auto fresh = device_->create_queue(0).value();
    const NoAllocations none;
    EXPECT_THROW(fresh->enqueue(std::span(&second, 1)), std::bad_alloc);
  }
  last_ = queue_->submit(std::move(second));
  expect_success();
  EXPECT_EQ(threads.load(), 128u);
}

/// What a fresh device allocates for its first launches fails, one allocation after the other, and all from one on.
class FirstLaunches : public testing::TestWithParam<uint64_t> {};

TEST_P(FirstLaunches, FailOrSucceedWhereverMemoryEnds) {
  constexpr uint64_t kMostAllocations = 1000;
  uint64_t failures = 0, before = 0;
  for (bool came_to_it = true; came_to_it && before < kMostAllocations; ++before) {
    struct Fresh : DeviceFixture {
      void TestBody() override {}
      using DeviceFixture::device_, DeviceFixture::queue_, DeviceFixture::make_launch;
    } fresh;
    Counter threads{0};
    hal::Command command = fresh.make_launch(count_up, {{4}, {32}}, &threads);
    const uint64_t last = fresh.queue_->enqueue(std::span(&command, 1));
    {
      const SomeAllocationsFail scarce(before, GetParam());
      fresh.queue_->start();
      while (fresh.queue_->progress()->value() < last) std::this_thread::yield();
      came_to_it = scarce.came_to_it();
    }
    const Result<> result = fresh.queue_->progress()->wait(last);
    if (result) {
      EXPECT_EQ(threads.load(), 128u) << "without allocation " << before;
      continue;
    }
    ++failures;
    EXPECT_TRUE(result.error().code == ErrorCode::OutOfMemory || result.error().code == ErrorCode::LaunchOutOfResources)
        << result.error().message;
    fresh.device_->clear_fault();
    threads = 0;
    const uint64_t again = fresh.queue_->submit(fresh.make_launch(count_up, {{4}, {32}}, &threads));
    EXPECT_TRUE(fresh.queue_->progress()->wait(again));
    EXPECT_EQ(threads.load(), 128u) << "after a launch without allocation " << before;
  }
  EXPECT_GT(failures, 5u);
  EXPECT_LT(before, kMostAllocations);
}
INSTANTIATE_TEST_SUITE_P(OneAndAll, FirstLaunches, testing::Values(1, UINT64_MAX));

}  // namespace
}  // namespace cupola::cpu

#endif
