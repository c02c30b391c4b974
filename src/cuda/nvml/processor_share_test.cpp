// How busy the processors are. Oracle: proc(5) for what the columns of /proc/stat mean; sums by hand.

#include "cuda/nvml/processor_share.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace cupola::nvml {
namespace {

TEST(ProcessorTime, LeavesOutIdleAndWaitingTimeAndGuestsThatCountTwice) {
  const auto time = processor_time_of("cpu  100 20 30 4000 500 6 7 8 90 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->busy, 100u + 20 + 30 + 6 + 7 + 8);
  EXPECT_EQ(time->total, time->busy + 4000 + 500);
}

TEST(ProcessorTime, IsNothingOfOtherText) {
  EXPECT_FALSE(processor_time_of(""));
  EXPECT_FALSE(processor_time_of("cpu0 1 2 3 4 5 6 7 8"));
  EXPECT_FALSE(processor_time_of("cpu 1 2 3 4"));
}

/// Gives one time after the other, the last again and again.
class Times {
 public:
  explicit Times(std::vector<ProcessorTime> times) : times_(std::move(times)) {}
  std::optional<ProcessorTime> operator()() { return times_[std::min(next_++, times_.size() - 1)]; }

 private:
  std::vector<ProcessorTime> times_;
  size_t next_ = 0;
};

void pass_a_period() {
  std::this_thread::sleep_for(ProcessorShare::kPeriod);
}

TEST(ProcessorShare, IsOfTheTimeSinceTheLastAnswer) {
  ProcessorShare share(Times({{0, 0}, {25, 100}, {125, 200}}));
  share.begin();
  EXPECT_EQ(share.percent(), 25u);
  pass_a_period();
  EXPECT_EQ(share.percent(), 100u);
}

TEST(ProcessorShare, NeedsNoBeginning) {
  ProcessorShare share(Times({{50, 100}, {60, 200}}));
  EXPECT_EQ(share.percent(), 10u);
}

TEST(ProcessorShare, SurvivesCountersThatStandOrStepBack) {
  ProcessorShare standing(Times({{50, 100}}));
  EXPECT_EQ(standing.percent(), 0u);
  ProcessorShare back(Times({{50, 100}, {40, 200}, {30, 100}, {40, 120}}));
  EXPECT_EQ(back.percent(), 0u);
  pass_a_period();
  EXPECT_EQ(back.percent(), 0u);  // the last answer: there was no time
  pass_a_period();
  EXPECT_EQ(back.percent(), 50u);
}

TEST(ProcessorShare, IsNothingWhereTheSystemDoesNotSay) {
  ProcessorShare share([] { return std::optional<ProcessorTime>(); });
  EXPECT_FALSE(share.percent());
}

}  // namespace
}  // namespace cupola::nvml
