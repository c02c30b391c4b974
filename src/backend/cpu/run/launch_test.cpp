#include <algorithm>
#include <numeric>
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

}  // namespace
}  // namespace cupola::cpu
