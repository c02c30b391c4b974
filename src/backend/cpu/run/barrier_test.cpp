#include "backend/cpu/run/barrier.h"

#include "backend/cpu/run/device_fixture.h"

// Oracle: the PTX ISA's description of barrier{.cta}, as counts that a person can follow.

namespace cupola::cpu {
namespace {

using Barriers = DeviceFixture;

struct Out {
  uint32_t* values;
};

void two_points(ThreadContext* c, const std::byte* block) {
  volatile uint32_t* shared = reinterpret_cast<uint32_t*>(c->shared_window);
  if (c->tid[0] == 0) {
    *shared = 17;
    c->services->barrier(c, 0, 0, 1);
  } else {
    c->services->barrier(c, 0, 0, 1);
    parameters_of<Out>(block).values[c->tid[0]] = *shared;
  }
}

TEST_F(Barriers, MeetAtTwoProgramPoints) {
  uint32_t values[96] = {};
  launch(two_points, {{1}, {96}}, Out{values});
  expect_success();
  for (uint32_t i = 1; i < 96; ++i) EXPECT_EQ(values[i], 17u);
}

void early_exit(ThreadContext* c, const std::byte* block) {
  volatile uint32_t* shared = reinterpret_cast<uint32_t*>(c->shared_window);
  if (c->tid[0] >= 40) {
    if (c->tid[0] == 41) c->services->exit(c);
    return;
  }
  for (uint32_t round = 0; round < 3; ++round) {
    if (c->tid[0] == round) *shared = 100 + round;
    c->services->barrier(c, 0, 0, 1);
    parameters_of<Out>(block).values[round * 40 + c->tid[0]] = *shared;
    c->services->barrier(c, 0, 0, 1);
  }
}

TEST_F(Barriers, DoNotWaitForThreadsThatExited) {
  uint32_t values[120] = {};
  launch(early_exit, {{1}, {100}}, Out{values});
  expect_success();
  for (uint32_t i = 0; i < 120; ++i) EXPECT_EQ(values[i], 100 + i / 40);
}

void producer_consumer(ThreadContext* c, const std::byte* block) {
  // Warp 0 fills, warp 1 drains; barrier 1 says full, barrier 2 says empty (the PTX ISA's example of bar.arrive).
  volatile uint32_t* shared = reinterpret_cast<uint32_t*>(c->shared_window);
  for (uint32_t round = 0; round < 50; ++round) {
    if (c->warp == 0) {
      if (round) c->services->barrier(c, 2, 64, 1);
      shared[c->lane] = round * 32 + c->lane;
      c->services->barrier_arrive(c, 1, 64, 1);
    } else {
      c->services->barrier(c, 1, 64, 1);
      parameters_of<Out>(block).values[round * 32 + c->lane] = shared[31 - c->lane];
      if (round < 49) c->services->barrier_arrive(c, 2, 64, 1);
    }
  }
}

TEST_F(Barriers, ArriveDoesNotWait) {
  std::vector<uint32_t> values(50 * 32);
  launch(producer_consumer, {{1}, {64}}, Out{values.data()});
  expect_success();
  for (uint32_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i / 32 * 32 + 31 - i % 32);
}

void reduce(ThreadContext* c, const std::byte* block) {
  const uint32_t i = c->tid[0];
  uint32_t* out = parameters_of<Out>(block).values + i * 5;
  out[0] = c->services->barrier_reduce(c, 0, 0, 0, i % 3 == 0, 1);
  out[1] = c->services->barrier_reduce(c, 0, 0, 1, 1, 1);
  out[2] = c->services->barrier_reduce(c, 0, 0, 1, i != 77, 1);
  out[3] = c->services->barrier_reduce(c, 0, 0, 2, i == 77, 1);
  out[4] = c->services->barrier_reduce(c, 0, 0, 2, 0, 1);
}

TEST_F(Barriers, ReduceCountsAndsAndOrs) {
  std::vector<uint32_t> values(100 * 5);
  launch(reduce, {{1}, {100}}, Out{values.data()});
  expect_success();
  for (uint32_t i = 0; i < 100; ++i) {
    const uint32_t* got = values.data() + i * 5;
    EXPECT_EQ(got[0], 34u);
    EXPECT_EQ(got[1], 1u);
    EXPECT_EQ(got[2], 0u);
    EXPECT_EQ(got[3], 1u);
    EXPECT_EQ(got[4], 0u);
  }
}

TEST(Barrier, CountsToWhatIsExpected) {
  Barrier barrier;
  EXPECT_FALSE(barrier.complete(0));
  barrier.arrive(0, 1);
  EXPECT_FALSE(barrier.complete(2));
  EXPECT_TRUE(barrier.complete(1));
  barrier.reset();
  for (int i = 0; i < 31; ++i) barrier.arrive(64, 1);
  barrier.arrive(64, 32);  // a warp
  EXPECT_FALSE(barrier.complete(1));
  barrier.arrive(64, 1);
  EXPECT_TRUE(barrier.complete(1024));
}

}  // namespace
}  // namespace cupola::cpu
