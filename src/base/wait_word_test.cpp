#include "base/wait_word.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

// Oracle: the contract in wait_word.h. A lost wake-up hangs and is caught by the test's time limit.

namespace cupola {
namespace {

TEST(WaitWord, GivesWhatIsRaisedBeforeAndWhileItWaits) {
  WaitWord word;
  word.raise(2);
  EXPECT_EQ(word.wait(), 2u);
  word.clear();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    word.raise(4);
  });
  EXPECT_EQ(word.wait(), 4u);
  other.join();
  word.raise(1);
  EXPECT_EQ(word.bits(), 5u);
}

TEST(WaitWord, WaitsNoLongerThanAsked) {
  WaitWord word;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(word.wait(3'000'000), 0u);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(3));
}

TEST(WaitWord, LosesNoWakeUp) {
  constexpr int kRounds = 20000;
  WaitWord there, back;
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      there.wait();
      there.clear();
      back.raise(1);
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    there.raise(1);
    back.wait();
    back.clear();
  }
  other.join();
}

TEST(WaitWord, MayEndAsSoonAsTheBitIsSeen) {
  for (int i = 0; i < 2000; ++i) {
    std::thread other;
    {
      WaitWord word;
      other = std::thread([&word] { word.raise(1); });
      word.wait();
    }
    other.join();
  }
}

}  // namespace
}  // namespace cupola
