#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "backend/cpu/run/device_fixture.h"

// Threads, blocks, grids and the host that wait for each other. A hang is caught by the test's time limit. Oracle:
// forward progress as the CUDA C++ Programming Guide gives it ("Independent Thread Scheduling"), and counting.

namespace cupola::cpu {
namespace {

using Waiting = DeviceFixture;
using Flag = std::atomic<uint32_t>;

/// What generated code does at the end of each turn of a loop that may wait.
void turn(ThreadContext* c) {
  if (--c->fuel <= 0) c->services->poll(c);
}

void wait_for(ThreadContext* c, const Flag& flag) {
  while (flag.load() == 0) turn(c);
}

struct LockParameters {
  Flag* lock;
  uint32_t* count;
};

void naive_lock(ThreadContext* c, const std::byte* block) {
  const auto& p = parameters_of<LockParameters>(block);
  while (p.lock->exchange(1)) turn(c);
  const uint32_t seen = *static_cast<volatile uint32_t*>(p.count);
  c->services->poll(c);  // gives others every chance to break in
  *static_cast<volatile uint32_t*>(p.count) = seen + 1;
  p.lock->store(0);
}

TEST_F(Waiting, ASpinLockInsideWarpsAndBetweenBlocks) {
  Flag lock{0};
  uint32_t count = 0;
  launch(naive_lock, {{4}, {64}}, LockParameters{&lock, &count}, {.polls = true});
  expect_success();
  EXPECT_EQ(count, 256u);
}

struct ChainParameters {
  Flag* flags;
  uint32_t* order;
  bool upwards;
};

void chain(ThreadContext* c, const std::byte* block) {
  const auto& p = parameters_of<ChainParameters>(block);
  if (c->tid[0] != 0) return;
  const uint32_t mine = c->ctaid[0], last = c->nctaid[0] - 1;
  const bool first = p.upwards ? mine == 0 : mine == last;
  const uint32_t before = p.upwards ? mine - 1 : mine + 1;
  if (!first) wait_for(c, p.flags[before]);
  p.order[mine] = first ? 0 : p.order[before] + 1;
  p.flags[mine].store(1);
}

void check_chain(DeviceFixture&, const std::vector<uint32_t>& order, bool upwards) {
  for (uint32_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], upwards ? i : order.size() - 1 - i) << i;
}

TEST_F(Waiting, FlagsFromEarlierBlocks) {
  std::vector<Flag> flags(2000);
  std::vector<uint32_t> order(2000);
  launch(chain, {{2000}, {32}}, ChainParameters{flags.data(), order.data(), true}, {.polls = true});
  expect_success();
  check_chain(*this, order, true);
}

TEST_F(Waiting, FlagsFromLaterResidentBlocks) {
  std::vector<Flag> flags(16);
  std::vector<uint32_t> order(16);
  launch(chain, {{16}, {32}}, ChainParameters{flags.data(), order.data(), false}, {.polls = true});
  expect_success();
  check_chain(*this, order, false);
}

struct FlagParameters {
  Flag* flag;
  Flag* seen;
};

void wait_kernel(ThreadContext* c, const std::byte* block) {
  const auto& p = parameters_of<FlagParameters>(block);
  wait_for(c, *p.flag);
  p.seen->fetch_add(p.flag->load());
}

void set_kernel(ThreadContext*, const std::byte* block) {
  parameters_of<FlagParameters>(block).flag->store(21);
}

TEST_F(Waiting, FlagsBetweenQueues) {
  for (const image::Rung rung : {image::Rung::ThreadFibres, image::Rung::ThreadLoop}) {
    Flag flag{0}, seen{0};
    std::vector<std::unique_ptr<hal::Queue>> queues;
    for (int i = 0; i < 8; ++i) {
      queues.push_back(device_->create_queue(0).value());
      queues.back()->submit(
          make_launch(wait_kernel, {{1}, {2}}, FlagParameters{&flag, &seen}, {.rung = rung, .polls = true}));
    }
    launch(set_kernel, {{1}, {1}}, FlagParameters{&flag, &seen});
    for (const auto& queue : queues) EXPECT_TRUE(queue->progress()->wait(1));
    EXPECT_EQ(seen.load(), 8u * 2 * 21);
  }
}

TEST_F(Waiting, AFlagFromTheHost) {
  Flag flag{0}, seen{0};
  launch(wait_kernel, {{1}, {1}}, FlagParameters{&flag, &seen}, {.polls = true});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(queue_->progress()->value(), 0u);
  flag.store(5);
  expect_success();
  EXPECT_EQ(seen.load(), 5u);
}

TEST_F(Waiting, OtherWorkGoesOnBesidePollingBlocks) {
  Flag flag{0}, seen{0}, other{0}, done{0};
  launch(wait_kernel, {{64}, {64}}, FlagParameters{&flag, &seen}, {.polls = true});
  auto second = device_->create_queue(0).value();
  for (int i = 0; i < 1000; ++i) second->submit(make_launch(set_kernel, {{4}, {32}}, FlagParameters{&other, &done}));
  EXPECT_TRUE(second->progress()->wait(1000));
  EXPECT_EQ(queue_->progress()->value(), 0u);
  flag.store(1);
  expect_success();
  EXPECT_EQ(seen.load(), 64u * 64);
}

void flag_inside_a_block(ThreadContext* c, const std::byte* block) {
  const auto& p = parameters_of<FlagParameters>(block);
  if (c->tid[0] == 0)
    wait_for(c, *p.flag);
  else if (c->tid[0] == 63)
    p.flag->store(1);
  c->services->barrier(c, 0, 0, 1);
  p.seen->fetch_add(1);
}

TEST_F(Waiting, AFlagFromALaterThreadOfTheBlock) {
  Flag flag{0}, seen{0};
  launch(flag_inside_a_block, {{1}, {64}}, FlagParameters{&flag, &seen}, {.polls = true});
  expect_success();
  EXPECT_EQ(seen.load(), 64u);
}

struct GridParameters {
  Flag* counters;
  Flag* errors;
  uint32_t rounds;
};

void grid_rounds(ThreadContext* c, const std::byte* block) {
  const auto& p = parameters_of<GridParameters>(block);
  const uint32_t all = c->nctaid[0] * c->ntid[0];
  if (c->tid[0] == 5 && c->ctaid[0] == 1) return;  // who has exited is not waited for
  for (uint32_t round = 0; round < p.rounds; ++round) {
    p.counters[round].fetch_add(1);
    c->services->grid_sync(c, 1);
    if (p.counters[round].load() != all - 1) p.errors->fetch_add(1);
  }
  if (!c->services->grid_is_cooperative(c)) p.errors->fetch_add(1);
}

TEST_F(Waiting, ACooperativeGridMeets) {
  for (const uint32_t blocks : {2u, 7u, 64u}) {
    std::vector<Flag> counters(20);
    Flag errors{0};
    launch(grid_rounds, {{blocks}, {64}, 0, true}, GridParameters{counters.data(), &errors, 20});
    expect_success();
    EXPECT_EQ(errors.load(), 0u);
    EXPECT_EQ(counters[19].load(), blocks * 64 - 1);
  }
}

TEST_F(Waiting, TwoCooperativeGridsAtOnce) {
  std::vector<Flag> counters(40);
  Flag errors{0};
  auto second = device_->create_queue(0).value();
  launch(grid_rounds, {{32}, {64}, 0, true}, GridParameters{counters.data(), &errors, 20});
  second->submit(make_launch(grid_rounds, {{32}, {64}, 0, true}, GridParameters{counters.data() + 20, &errors, 20}));
  EXPECT_TRUE(second->progress()->wait(1));
  expect_success();
  EXPECT_EQ(errors.load(), 0u);
}

TEST_F(Waiting, AGridBarrierNeedsACooperativeLaunch) {
  static Flag counter{0}, errors{0};  // the fault is known before all blocks have ended: they may still count
  launch(grid_rounds, {{2}, {2}}, GridParameters{&counter, &errors, 1});
  const Result<> result = synchronize();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::LaunchFailed);
}

void deadlock(ThreadContext* c, const std::byte*) {
  if (c->tid[0] < 16)
    c->services->warp_sync(c, ~0u);
  else
    c->services->barrier(c, 3, 0, 1);
}

TEST_F(Waiting, ADeadlockIsAFaultThatSaysWhoWaitsWhere) {
  launch(deadlock, {{1}, {64}}, 0);
  const Result<> result = synchronize();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::LaunchFailed);
  EXPECT_EQ(result.error().message,
            "kernel native, block (0,0,0): deadlock: thread (0,0,0) and 15 more wait at a warp barrier of lanes "
            "0xffffffff of "
            "warp 0; thread (16,0,0) and 47 more wait at barrier 3");
}

}  // namespace
}  // namespace cupola::cpu
