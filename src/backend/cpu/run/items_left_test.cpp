#include "backend/cpu/run/items_left.h"

#include <gtest/gtest.h>

#include <vector>

// Oracle: the class's contract, for all small counts.

namespace cupola::cpu {
namespace {

TEST(ItemsLeft, EachItemIsTakenOnceWhoeverTakes) {
  for (const uint64_t count : {1, 2, 7, 8, 15, 16, 17, 100, 127, 128, 129, 1000, 5003})
    for (const uint32_t takers : {1u, 2u, 3u, 16u, 17u, 100u})
      for (const uint32_t step : {1u, 3u, 7u}) {
        ItemsLeft items(count);
        items.divide(takers);
        ASSERT_LE(items.parts(), ItemsLeft::kMostParts);
        std::vector<int> times(count);
        uint64_t left = count;
        for (uint32_t turn = 0; left != 0; turn += step) {
          const ItemsLeft::Run run = items.take(turn % items.parts());
          ASSERT_LT(run.begin, run.end);
          ASSERT_LE(run.end, count);
          for (uint64_t i = run.begin; i < run.end; ++i) ++times[i];
          left -= run.size();
          ASSERT_EQ(items.left(), left);
        }
        ASSERT_EQ(items.take(0).size(), 0u);
        for (const int each : times) ASSERT_EQ(each, 1);
      }
}

TEST(ItemsLeft, APartIsTakenInIncreasingOrder) {
  ItemsLeft items(1000);
  items.divide(4);
  ASSERT_EQ(items.parts(), 4u);
  uint64_t next = 500;  // part 2
  while (next < 750) {
    const ItemsLeft::Run run = items.take(2);
    EXPECT_EQ(run.begin, next);
    next = run.end;
  }
  EXPECT_EQ(next, 750u);
}

TEST(ItemsLeft, WhoIsDoneTakesTheEndOfWhereMostIsLeft) {
  ItemsLeft items(3000);
  items.divide(3);
  items.take(1);  // less is left of part 1 than of part 2
  for (uint64_t own = 0; own < 1000;) own += items.take(0).size();
  const ItemsLeft::Run first = items.take(0);
  EXPECT_GT(first.begin, 2000u);
  EXPECT_EQ(first.end, 3000u);
  while (items.left() > 750) items.take(0);  // from here on part 1 has the most
  EXPECT_EQ(items.take(2).begin, 2000u) << "its own part's front";
}

TEST(ItemsLeft, FewItemsAreTakenInOrder) {
  ItemsLeft items(2 * ItemsLeft::kLeastOfPart - 1);
  items.divide(2);
  EXPECT_EQ(items.parts(), 1u);
}

TEST(ItemsLeft, RunsAreShortAtTheEndOnly) {
  ItemsLeft items(1 << 20);
  items.divide(2);
  uint64_t before = UINT64_MAX, runs = 0;
  while (items.left() > 1 << 19) {
    const uint64_t size = items.take(0).size();
    EXPECT_LE(size, before);
    before = size;
    ++runs;
  }
  EXPECT_EQ(before, 1u);
  EXPECT_LT(runs, 100u);
}

TEST(ItemsLeft, WhatIsGivenUpIsCounted) {
  ItemsLeft items(100);
  items.divide(2);
  const uint64_t taken = items.take(1).size();
  EXPECT_EQ(items.clear(), 100 - taken);
  EXPECT_EQ(items.left(), 0u);
  EXPECT_EQ(items.take(0).size(), 0u);
}

}  // namespace
}  // namespace cupola::cpu
