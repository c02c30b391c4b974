#include "backend/cpu/run/spin.h"

#include <gtest/gtest.h>

namespace cupola::cpu {
namespace {

const bool is_alone = std::thread::hardware_concurrency() == 1;

/// What the budget of a thread is that waited so long, and slept.
uint64_t after(SpinBudget& budget, uint64_t nanoseconds) {
  const uint64_t began = steady_nanoseconds();
  EXPECT_FALSE(budget.spin([] { return false; }));
  budget.came_at(began + nanoseconds);
  return budget.nanoseconds();
}

TEST(SpinBudget, IsAsLongAsAWakeUpCostsWhereWaitsAreThatShort) {
  SpinBudget budget(100'000);
  EXPECT_EQ(budget.nanoseconds(), 100'000u);
  EXPECT_EQ(after(budget, 10'000'000'000), 50'000u);
  EXPECT_EQ(after(budget, 10'000'000'000), 25'000u);
  const uint64_t before = steady_nanoseconds();
  EXPECT_FALSE(budget.spin([] { return false; }));
  budget.came_at(before + 100'000);  // at most so long after it began
  EXPECT_EQ(budget.nanoseconds(), 100'000u);
}

TEST(SpinBudget, IsNeverNothing) {
  SpinBudget budget(100'000);
  for (int i = 0; i < 100; ++i) after(budget, 10'000'000'000);
  EXPECT_EQ(budget.nanoseconds(), 1'000u);
}

TEST(SpinBudget, ThatIsPaidForIsWhole) {
  SpinBudget budget(100'000);
  after(budget, 10'000'000'000);
  EXPECT_TRUE(budget.spin([] { return true; }));
  EXPECT_EQ(budget.nanoseconds(), 50'000u) << "nothing was waited for";
  int looks = 0;
  EXPECT_TRUE(budget.spin([&] { return ++looks == 2; }) || is_alone);
  EXPECT_EQ(budget.nanoseconds(), is_alone ? 50'000u : 100'000u);
}

TEST(HostPatience, IsShorterWhereAWorkerHasTheCore) {
  if (is_alone) GTEST_SKIP() << "nobody looks where there is one core";
  HostPatience patience;
  const auto never = [] { return false; };
  const auto looks = [&](bool has_place) {
    const uint64_t began = steady_nanoseconds();
    EXPECT_FALSE(patience.spin(has_place, never));
    return steady_nanoseconds() - began;
  };
  EXPECT_GE(looks(true), 200'000u);
  patience.came_at(steady_nanoseconds() + 10'000'000'000);
  uint64_t shortest = looks(false);
  for (int i = 0; i < 100; ++i) shortest = std::min(shortest, looks(false));
  EXPECT_GE(shortest, 20'000u);
  EXPECT_LT(shortest, 100'000u) << "half of what the other was, which had waited in vain";
}

}  // namespace
}  // namespace cupola::cpu
