#include "backend/cpu/run/warp.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "backend/cpu/run/device_fixture.h"

// Warp operations. Oracle: the definitions of shfl.sync, vote.sync, match.sync and redux.sync in the PTX ISA, written
// out below lane by lane as the document has them.

namespace cupola::cpu {
namespace {

struct Lanes {
  uint32_t value[32];
  uint32_t b, c;
};

uint64_t expected_shuffle(uint32_t kind, uint32_t mask, uint32_t lane, const Lanes& in) {
  const uint32_t bval = in.b & 0x1F, cval = in.c & 0x1F, segmask = (in.c >> 8) & 0x1F;
  const int max_lane = static_cast<int>((lane & segmask) | (cval & ~segmask & 0x1F));
  const int min_lane = static_cast<int>(lane & segmask);
  int j = 0;
  bool p = false;
  switch (kind) {
    case 0:
      j = static_cast<int>(lane) - static_cast<int>(bval);
      p = j >= max_lane;
      break;
    case 1:
      j = static_cast<int>(lane + bval);
      p = j <= max_lane;
      break;
    case 2:
      j = static_cast<int>(lane ^ bval);
      p = j <= max_lane;
      break;
    default:
      j = min_lane | static_cast<int>(bval & ~segmask & 0x1F);
      p = j <= max_lane;
      break;
  }
  if (!p) j = static_cast<int>(lane);
  const bool inactive = !(mask >> j & 1);
  return in.value[inactive ? lane : static_cast<uint32_t>(j)] | (p ? uint64_t{1} << 32 : 0);
}

uint32_t expected_vote(uint32_t op, uint32_t mask, const Lanes& in) {
  uint32_t on = 0, off = 0;
  for (uint32_t i = 0; i < 32; ++i)
    if (mask >> i & 1) (in.value[i] ? on : off) |= 1u << i;
  if (op == 0) return off == 0;
  if (op == 1) return on != 0;
  if (op == 2) return on == 0 || off == 0;
  return on;
}

uint64_t expected_match(uint32_t op, uint32_t mask, uint32_t lane, const Lanes& in) {
  uint32_t equal = 0;
  for (uint32_t i = 0; i < 32; ++i)
    if (mask >> i & 1 && in.value[i] == in.value[lane]) equal |= 1u << i;
  if (op == 0) return equal;
  return equal == mask ? uint64_t{mask} | uint64_t{1} << 32 : 0;
}

uint32_t expected_redux(uint32_t op, uint32_t mask, const Lanes& in) {
  uint32_t r = 0;
  bool first = true;
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(mask >> i & 1)) continue;
    const uint32_t x = in.value[i];
    const auto sr = static_cast<int>(r), sx = static_cast<int>(x);
    if (first) {
      r = x;
    } else {
      switch (op) {
        case 0:
          r += x;
          break;
        case 1:
          r = sx < sr ? x : r;
          break;
        case 2:
          r = sx > sr ? x : r;
          break;
        case 3:
          r = x < r ? x : r;
          break;
        case 4:
          r = x > r ? x : r;
          break;
        case 5:
          r &= x;
          break;
        case 6:
          r |= x;
          break;
        default:
          r ^= x;
          break;
      }
    }
    first = false;
  }
  return r;
}

/// A kernel's view: lanes of two masks that do not overlap, each group in a loop of its own, meet at the same time.
struct Trial {
  uint32_t group[32];  ///< the mask that the lane names
  Lanes in;
};
constexpr uint32_t kResults = 4 + 4 + 2 + 8;
struct WarpParameters {
  const Trial* trials;
  uint32_t count;
  uint64_t (*results)[32][kResults];
};

void warp_kernel(ThreadContext* c, const std::byte* block) {
  const auto& p = parameters_of<WarpParameters>(block);
  const uint32_t lane = c->lane;
  for (uint32_t t = 0; t < p.count; ++t) {
    const Trial& trial = p.trials[t];
    const uint32_t mask = trial.group[lane], value = trial.in.value[lane];
    if (!mask) continue;
    uint64_t* out = p.results[t][lane];
    for (uint32_t kind = 0; kind < 4; ++kind)
      *out++ = c->services->shuffle(c, mask, kind, value, trial.in.b, trial.in.c);
    for (uint32_t op = 0; op < 4; ++op) *out++ = c->services->vote(c, mask, op, value);
    for (uint32_t op = 0; op < 2; ++op) *out++ = c->services->match(c, mask, op, value);
    for (uint32_t op = 0; op < 8; ++op) *out++ = c->services->redux(c, mask, op, value);
    c->services->warp_sync(c, mask);
  }
}

std::vector<Trial> random_trials(uint32_t count) {
  std::mt19937 random(7);
  std::vector<Trial> trials(count);
  for (Trial& trial : trials) {
    const uint32_t kind = random();
    uint32_t first = random(), second = random() & ~first;
    if (kind % 4 == 0) first = ~0u, second = 0;
    for (uint32_t i = 0; i < 32; ++i) {
      trial.group[i] = first >> i & 1 ? first : second >> i & 1 ? second : 0;
      trial.in.value[i] = kind % 3 == 0 ? random() % 2 : kind % 3 == 1 ? random() : kind;
    }
    trial.in.b = random() % 40;
    const uint32_t width = 1u << random() % 6;
    trial.in.c = (32 - width) << 8 | (random() % 2 ? 31 : random() % 2 ? 0 : random() % 32);
  }
  return trials;
}

using WarpKernels = DeviceFixture;

TEST_F(WarpKernels, OperationsOverRandomMasksAreWhatThePtxIsaDefines) {
  const uint32_t count = 2000;
  const std::vector<Trial> trials = random_trials(count);
  std::vector<uint64_t> storage(size_t{count} * 32 * kResults);
  auto* results = reinterpret_cast<uint64_t (*)[32][kResults]>(storage.data());
  launch(warp_kernel, {{1}, {32}}, WarpParameters{trials.data(), count, results});
  expect_success();
  for (uint32_t t = 0; t < count; ++t)
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t mask = trials[t].group[lane];
      if (!mask) continue;
      const Lanes& in = trials[t].in;
      const uint64_t* out = results[t][lane];
      for (uint32_t k = 0; k < 4; ++k)
        ASSERT_EQ(*out++, expected_shuffle(k, mask, lane, in)) << t << ' ' << lane << " shfl " << k;
      for (uint32_t k = 0; k < 4; ++k)
        ASSERT_EQ(*out++, expected_vote(k, mask, in)) << t << ' ' << lane << " vote " << k;
      for (uint32_t k = 0; k < 2; ++k)
        ASSERT_EQ(*out++, expected_match(k, mask, lane, in)) << t << ' ' << lane << " match " << k;
      for (uint32_t k = 0; k < 8; ++k)
        ASSERT_EQ(*out++, expected_redux(k, mask, in)) << t << ' ' << lane << " redux " << k;
    }
}

WarpRequest sync_request(uint32_t mask) {
  return {WarpOp::Sync, mask};
}

TEST(Warp, AnOperationWaitsForAllLanesOfItsMask) {
  Warp warp;
  warp.reset(~0u);
  EXPECT_EQ(warp.meet(0, sync_request(7)), 0u);
  EXPECT_EQ(warp.meet(2, sync_request(7)), 0u);
  EXPECT_EQ(warp.meet(1, sync_request(7)), 7u);
}

TEST(Warp, DifferentMasksAndOperationsDoNotMeet) {
  Warp warp;
  warp.reset(~0u);
  EXPECT_EQ(warp.meet(0, sync_request(3)), 0u);
  EXPECT_EQ(warp.meet(1, sync_request(7)), 0u);
  EXPECT_EQ(warp.meet(2, sync_request(7)), 0u);
  Warp other;
  other.reset(~0u);
  EXPECT_EQ(other.meet(0, sync_request(3)), 0u);
  EXPECT_EQ(other.meet(1, {WarpOp::VoteAll, 3, 1}), 0u);
}

TEST(Warp, AnExitCompletesWhatWaitedForIt) {
  Warp warp;
  warp.reset(~0u);
  warp.meet(0, sync_request(7));
  warp.meet(1, sync_request(7));
  warp.meet(8, sync_request(0x304));
  warp.meet(9, sync_request(0x304));
  EXPECT_EQ(warp.exit(2), 0x303u);
  EXPECT_EQ(warp.alive(), ~4u);
}

TEST(Warp, SitesSettleWhenNoLaneIsBusyLargestGroupFirst) {
  Warp warp;
  warp.reset(0xFF);
  warp.meet_at(0, 100);
  warp.meet_at(1, 200);
  warp.meet_at(2, 200);
  EXPECT_EQ(warp.settle(), 0u);
  for (uint32_t lane = 3; lane < 7; ++lane) warp.stop(lane);
  EXPECT_EQ(warp.settle(), 0u);
  warp.exit(7);
  EXPECT_EQ(warp.settle(), 6u);
  EXPECT_EQ(warp.result(1), 6u);
  EXPECT_EQ(warp.settle(), 0u);
  warp.stop(1);
  warp.stop(2);
  EXPECT_EQ(warp.settle(), 1u);
}

struct Masks {
  uint32_t* masks;
};

void active_mask_kernel(ThreadContext* c, const std::byte* block) {
  uint32_t* masks = parameters_of<Masks>(block).masks;
  if (c->lane % 4 == 0) {
    masks[c->lane] = c->services->active_mask(c, 1);
  } else if (c->lane % 4 == 1) {
    c->services->exit(c);
  } else {
    masks[c->lane] = c->services->active_mask(c, 2);
  }
  // An aggregated sum over the lanes that came here together.
  masks[32 + c->lane] = c->services->redux(c, masks[c->lane], 0, 1);
}

TEST_F(WarpKernels, ActiveMaskIsTheLanesAtOnePlace) {
  uint32_t masks[64] = {};
  launch(active_mask_kernel, {{1}, {32}}, Masks{masks});
  expect_success();
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t expected = lane % 4 == 0 ? 0x11111111u : lane % 4 == 1 ? 0 : 0xCCCCCCCCu;
    EXPECT_EQ(masks[lane], expected) << lane;
    EXPECT_EQ(masks[32 + lane], static_cast<uint32_t>(std::popcount(expected))) << lane;
  }
}

void both_arms_kernel(ThreadContext* c, const std::byte* block) {
  uint32_t* out = parameters_of<Masks>(block).masks;
  volatile uint32_t* shared = reinterpret_cast<uint32_t*>(c->shared_window);
  shared[c->lane] = c->lane;
  if (c->lane < 16) {
    c->services->warp_sync(c, 0x0000FFFF);
    out[c->lane] = shared[15 - c->lane];
    c->services->warp_sync(c, ~0u);
  } else {
    c->services->warp_sync(c, 0xFFFF0000);
    out[c->lane] = shared[47 - c->lane];
    c->services->warp_sync(c, ~0u);
  }
}

void publish_kernel(ThreadContext* c, const std::byte* block) {
  uint32_t* out = parameters_of<Masks>(block).masks;
  if (c->lane == 9) c->services->exit(c);
  for (uint32_t round = 0; round < 4; ++round) {
    const uint32_t words[3] = {c->lane, 100 + c->lane, 1000 * round};
    const uint32_t* all = c->services->warp_publish(c, words, 3);
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t word = 0; word < 3; ++word) out[c->lane] += (word + 1) * all[lane * 3 + word] * (lane + 1);
  }
}

// Oracle: the table of all lanes' words, the lane that is gone as zeros, summed here once more.
TEST_F(WarpKernels, PublishShowsEveryLaneTheWordsOfAll) {
  uint32_t out[32] = {}, expected = 0;
  launch(publish_kernel, {{1}, {32}}, Masks{out});
  expect_success();
  for (uint32_t round = 0; round < 4; ++round)
    for (uint32_t lane = 0; lane < 32; ++lane)
      if (lane != 9) expected += (lane + 2 * (100 + lane) + 3 * (1000 * round)) * (lane + 1);
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane == 9 ? 0 : expected) << lane;
}

TEST_F(WarpKernels, WarpBarriersInBothArms) {
  uint32_t out[32] = {};
  launch(both_arms_kernel, {{1}, {32}}, Masks{out});
  expect_success();
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane < 16 ? 15 - lane : 47 - lane);
}

}  // namespace
}  // namespace cupola::cpu
