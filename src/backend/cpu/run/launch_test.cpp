#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "backend/cpu/run/device_fixture.h"
#include "backend/cpu/run/sanitizer.h"

// Launches of native kernels end to end. Oracle: the same computation in a loop on the host.

namespace cupola::cpu {
namespace {

using Launches = DeviceFixture;

struct Out {
  uint32_t* values;
};

void write_index(ThreadContext* c, const std::byte* block) {
  const uint64_t at = linear_block(c) * c->ntid[0] * c->ntid[1] * c->ntid[2] + linear_thread(c);
  parameters_of<Out>(block).values[at] = static_cast<uint32_t>(at * 3 + c->lane + c->warp * 32);
}

void check_indices(const std::vector<uint32_t>& values, uint64_t block_threads) {
  for (uint64_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i * 3 + i % block_threads) << i;
}

TEST_F(Launches, EveryThreadOfEveryBlockRunsOnceAsFibres) {
  const Shape shape{{3, 5, 7}, {9, 5, 2}};
  std::vector<uint32_t> values(shape.grid.count() * shape.block.count());
  launch(write_index, shape, Out{values.data()});
  expect_success();
  check_indices(values, shape.block.count());
}

TEST_F(Launches, EveryThreadOfEveryBlockRunsOnceInALoop) {
  const Shape shape{{11, 3, 2}, {33, 2, 4}};
  std::vector<uint32_t> values(shape.grid.count() * shape.block.count());
  launch(write_index, shape, Out{values.data()}, {.rung = image::Rung::ThreadLoop});
  expect_success();
  check_indices(values, shape.block.count());
}

void add_in_shared(ThreadContext* c, const std::byte* block) {
  auto* shared = reinterpret_cast<uint32_t*>(c->shared_window + c->dynamic_shared_offset);
  const uint32_t i = linear_thread(c), n = c->ntid[0];
  shared[i] = i + c->ctaid[0];
  c->services->barrier(c, 0, 0, 1);
  for (uint32_t half = n / 2; half; half /= 2) {
    if (i < half) shared[i] += shared[i + half];
    c->services->barrier(c, 0, 0, 1);
  }
  if (i == 0) parameters_of<Out>(block).values[c->ctaid[0]] = shared[0];
}

TEST_F(Launches, BarriersOrderATreeReductionInSharedMemory) {
  std::vector<uint32_t> sums(100);
  launch(add_in_shared, {{100}, {1024}, 4096}, Out{sums.data()});
  expect_success();
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(sums[i], 1023 * 1024 / 2 + 1024 * i);
}

void exit_some(ThreadContext* c, const std::byte* block) {
  if (linear_thread(c) % 3 == 0) c->services->exit(c);
  parameters_of<Out>(block).values[linear_thread(c)] = 1;
}

TEST_F(Launches, ExitInALoopGoesOnWithTheNextThread) {
  for (const image::Rung rung : {image::Rung::ThreadLoop, image::Rung::ThreadFibres}) {
    std::vector<uint32_t> ran(100);
    launch(exit_some, {{1}, {100}}, Out{ran.data()}, {.rung = rung});
    expect_success();
    for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(ran[i], i % 3 == 0 ? 0u : 1u);
  }
}

void record_window(ThreadContext* c, const std::byte* block) {
  volatile int local = 1;
  const auto window = [](const volatile void* p) { return reinterpret_cast<uint64_t>(p) / image::cpu::kLocalWindow; };
  parameters_of<Out>(block).values[linear_thread(c)] = window(&local) == window(c);
  c->services->barrier(c, 0, 0, 1);
}

TEST_F(Launches, LocalsAndContextLieInOneLocalWindow) {
#if CUPOLA_ASAN
  GTEST_SKIP() << "AddressSanitizer keeps the locals of native kernels on a stack of its own";
#endif
  std::vector<uint32_t> same(1024);
  launch(record_window, {{1}, {1024}}, Out{same.data()});
  expect_success();
  EXPECT_EQ(std::count(same.begin(), same.end(), 1u), 1024);
}

void record_shared(ThreadContext* c, const std::byte* block) {
  auto* values = parameters_of<Out>(block).values;
  values[0] = c->dynamic_shared_offset;
  values[1] = c->dynamic_shared_bytes;
  values[2] = c->total_shared_bytes;
  values[3] = reinterpret_cast<uint64_t>(c->shared_window) % image::cpu::kSharedWindow == 0;
}

void record_shared_bytes(ThreadContext* c, const std::byte* block) {
  *parameters_of<Out>(block).values = c->dynamic_shared_bytes;
}

TEST_F(Launches, DynamicSharedMemoryFollowsStatic) {
  auto executable = std::make_shared<NativeExecutable>();
  executable->add("shared", record_shared, {}, 20);
  uint32_t values[4] = {};
  hal::Launch command = make_launch(record_shared, {{1}, {1}, 1000}, Out{values});
  command.executable = executable;
  last_ = queue_->submit(command);
  expect_success();
  EXPECT_GE(values[0], 20u);
  EXPECT_EQ(values[0] % 16, 0u);
  EXPECT_EQ(values[1], 1000u);
  EXPECT_EQ(values[2], values[0] + 1000);
  EXPECT_EQ(values[3], 1u);
}

struct Runner {
  std::thread::id* threads;
};

void say_thread(ThreadContext* c, const std::byte* block) {
  parameters_of<Runner>(block).threads[linear_block(c)] = std::this_thread::get_id();
}

TEST_F(Launches, AShortGridIsDoneWhenItsLaunchReturns) {
  std::vector<std::thread::id> threads(3);
  launch(say_thread, {{3}, {4}}, Runner{threads.data()}, {.rung = image::Rung::ThreadLoop, .most_instructions = 10});
  EXPECT_EQ(queue_->progress()->value(), last_);
  EXPECT_EQ(std::count(threads.begin(), threads.end(), std::this_thread::get_id()), 3);
  expect_success();
}

// Each alone makes a grid that another core may as well run.
TEST_F(Launches, OthersRunOnWorkers) {
  struct Case {
    Shape shape;
    KernelCode code;
  };
  const KernelCode unknown{.rung = image::Rung::ThreadLoop, .most_instructions = 0},
      known{.rung = image::Rung::ThreadLoop, .most_instructions = 10},
      polls{.rung = image::Rung::ThreadLoop, .polls = true, .most_instructions = 10};
  for (const Case& each : {Case{{{1}, {1}}, unknown}, Case{{{1}, {1}}, polls}, Case{{{1}, {1024}}, known},
                           Case{{{1000}, {1}}, known}, Case{{{1}, {1}, 0, true}, known}}) {
    std::vector<std::thread::id> threads(each.shape.grid.count());
    std::atomic<bool> is_done{false};
    launch(say_thread, each.shape, Runner{threads.data()}, each.code);
    queue_->progress()->when(last_, [&] { is_done = true; });
    while (!is_done) std::this_thread::yield();  // and help none
    EXPECT_EQ(std::count(threads.begin(), threads.end(), std::this_thread::get_id()), 0)
        << each.shape.grid.x << " blocks of " << each.shape.block.x;
  }
}

// Others may enqueue as fast as one thread runs.
TEST_F(Launches, AThreadRunsSomeShortGridsAndNoMore) {
  constexpr int kGrids = 1000;
  const KernelCode known{.rung = image::Rung::ThreadLoop, .most_instructions = 10};
  std::vector<std::thread::id> threads(kGrids);
  std::vector<hal::Command> commands;
  for (std::thread::id& thread : threads)
    commands.push_back(make_launch(say_thread, {{1}, {1}}, Runner{&thread}, known));
  last_ = queue_->enqueue(commands);
  queue_->start();
  std::atomic<bool> is_done{false};
  queue_->progress()->when(last_, [&] { is_done = true; });
  while (!is_done) std::this_thread::yield();  // and help none
  const auto here = std::count(threads.begin(), threads.end(), std::this_thread::get_id());
  EXPECT_GT(here, 0);
  EXPECT_LT(here, kGrids / 10);
}

// What a short grid follows is waited for elsewhere.
TEST_F(Launches, AShortGridComesAfterWhatWasEnqueuedBefore) {
  const auto semaphore = device_->create_semaphore(0);
  uint32_t value = 0;
  queue_->submit(hal::Wait{semaphore, 1});
  launch(record_shared_bytes, {{1}, {1}, 16}, Out{&value}, {.rung = image::Rung::ThreadLoop, .most_instructions = 10});
  EXPECT_EQ(value, 0u);
  semaphore->signal(1);
  expect_success();
  EXPECT_EQ(value, 16u);
}

void divide_denormal(ThreadContext*, const std::byte* block) {
  volatile float tiny = 1.1754944e-38f;  // the smallest normal number
  volatile float two = 2;
  parameters_of<Out>(block).values[0] = tiny / two == 0;
}

#if defined(__x86_64__)
TEST_F(Launches, DenormalsAreFlushedOnlyWhereTheKernelAsks) {
  for (const bool flush : {true, false, true}) {
    uint32_t zero = 2;
    launch(divide_denormal, {{1}, {1}}, Out{&zero}, {.flush_denormals = flush});
    expect_success();
    EXPECT_EQ(zero, flush ? 1u : 0u);
  }
}
#endif

struct Calls {
  std::atomic<uint32_t>* most;  ///< blocks of a call
  int microseconds;             ///< that each takes
};

/// As code does that runs blocks one after the other.
void run_many(ThreadContext* c, const std::byte* block) {
  const auto& [most, microseconds] = parameters_of<Calls>(block);
  for (uint32_t known = *most; known < c->blocks && !most->compare_exchange_weak(known, c->blocks);) continue;
  if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  c->blocks = 1;
  c->ctaid[0] = c->nctaid[0] - 1;  // nobody looks where the last one was
}

// Of short ones, so that a grid that is given up still ends soon.
TEST_F(Launches, ACallRunsMoreBlocksIfTheLastOneWasShort) {
  std::atomic<uint32_t> most = 0;
  const auto run = [&](uint32_t blocks, int microseconds) {
    most = 0;
    launch(run_many, {{blocks}, {32}}, Calls{&most, microseconds}, {.width = 32, .whole_block = true});
    expect_success();
    return most.load();
  };
  EXPECT_EQ(run(100'000, 0), 1024u);
  EXPECT_EQ(run(1000, 100), 32u);
}

}  // namespace
}  // namespace cupola::cpu
