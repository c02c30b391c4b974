#include "backend/cpu/run/spin.h"

#include <gtest/gtest.h>

namespace cupola::cpu {
namespace {

TEST(SpinBudget, IsAsLongAsAWakeUpCostsWhereWaitsAreThatShort) {
  SpinBudget budget(100'000);
  EXPECT_EQ(budget.nanoseconds(), 100'000u);
  budget.waited(100'001);
  EXPECT_EQ(budget.nanoseconds(), 50'000u);
  budget.waited(1'000'000);
  EXPECT_EQ(budget.nanoseconds(), 25'000u);
  budget.waited(100'000);
  EXPECT_EQ(budget.nanoseconds(), 100'000u);
}

TEST(SpinBudget, IsNeverNothing) {
  SpinBudget budget(100'000);
  for (int i = 0; i < 100; ++i) budget.waited(1'000'000'000);
  EXPECT_EQ(budget.nanoseconds(), 1'000u);
}

TEST(SpinBudget, ThatIsPaidForIsWhole) {
  SpinBudget budget(100'000);
  budget.waited(1'000'000);
  EXPECT_TRUE(budget.spin([] { return true; }));
  EXPECT_EQ(budget.nanoseconds(), 50'000u) << "nothing was waited for";
  int looks = 0;
  EXPECT_TRUE(budget.spin([&] { return ++looks == 2; }) || std::thread::hardware_concurrency() == 1);
  EXPECT_EQ(budget.nanoseconds(), std::thread::hardware_concurrency() == 1 ? 50'000u : 100'000u);
}

}  // namespace
}  // namespace cupola::cpu
