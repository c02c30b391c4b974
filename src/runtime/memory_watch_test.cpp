#include "runtime/memory_watch.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "hal/null/null_device.h"

// Oracle: "CUDA Driver API, CUstreamWaitValue_flags": GEQ is "(int32_t)(*addr - value) >= 0 (or int64_t for 64 bit
// values)", EQ "*addr == value", AND "(*addr & value) != 0", NOR "~(*addr | value) != 0".

namespace cupola::runtime {
namespace {

bool met(Comparison comparison, uint64_t wanted, uint64_t found, unsigned bytes) {
  alignas(8) unsigned char memory[8];
  std::memcpy(memory, &found, sizeof memory);
  return AwaitedValue{reinterpret_cast<hal::Address>(memory), wanted, bytes, comparison}.met();
}

TEST(AwaitedValue, OfFourBytesIgnoresWhatLiesBehind) {
  constexpr uint64_t kBehind = 0x12345678ull << 32;
  EXPECT_TRUE(met(Comparison::Equal, 5, kBehind | 5, 4));
  EXPECT_FALSE(met(Comparison::Equal, 5, kBehind | 6, 4));
  EXPECT_FALSE(met(Comparison::And, 8, kBehind | 7, 4));
  EXPECT_FALSE(met(Comparison::Nor, 0xffff, 0xffff0000, 4));
  EXPECT_TRUE(met(Comparison::Nor, 0xffff, 0x7fff0000, 4));
}

TEST(AwaitedValue, OfEightBytesLooksAtAllOfThem) {
  EXPECT_TRUE(met(Comparison::Equal, 1ull << 40 | 5, 1ull << 40 | 5, 8));
  EXPECT_FALSE(met(Comparison::Equal, 1ull << 40 | 5, 5, 8));
  EXPECT_FALSE(met(Comparison::GreaterOrEqual, 1ull << 40, 0xffffffff, 8));
  EXPECT_TRUE(met(Comparison::And, 3ull << 40, 1ull << 40, 8));
  EXPECT_FALSE(met(Comparison::And, 3ull << 40, 1ull << 42, 8));
  EXPECT_FALSE(met(Comparison::Nor, 0xffffffff, ~0ull << 32, 8));
  EXPECT_TRUE(met(Comparison::Nor, 0, 0xffffffff, 8));
}

TEST(AwaitedValue, ComparesOrderCyclically) {
  EXPECT_TRUE(met(Comparison::GreaterOrEqual, 5, 5, 4));
  EXPECT_FALSE(met(Comparison::GreaterOrEqual, 5, 4, 4));
  EXPECT_TRUE(met(Comparison::GreaterOrEqual, 0xfffffff0, 2, 4));
  EXPECT_FALSE(met(Comparison::GreaterOrEqual, 2, 0xfffffff0, 4));
  EXPECT_FALSE(met(Comparison::GreaterOrEqual, 0, 0x80000000, 4));  // the half that lies before
  EXPECT_TRUE(met(Comparison::GreaterOrEqual, 0, 0x80000000, 8));
}

TEST(AwaitedValue, IsMetWhereMemoryIsGone) {
  EXPECT_TRUE((AwaitedValue{0x1000, 1, 4, Comparison::Equal}.met()));
}

/// True once the condition is; false after five seconds.
template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 5000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

#if defined(__linux__)
// In a process of its own, whose thread that looks has not started yet.
TEST(Watch, SaysThatItsThreadCannotStart) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, size_t{1} << 47);  // more than there are addresses
        pthread_setattr_default_np(&attributes);
        const Result<> started = start_watch();
        _exit(!started && started.error().code == ErrorCode::OperatingSystem ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

TEST(Watch, SignalsOnceItIsMet) {
  ASSERT_TRUE(start_watch());
  const auto device = hal::make_null_device();
  const auto then = device->create_semaphore(0);
  const auto is_met = std::make_shared<std::atomic<bool>>(false);
  watch([is_met] { return is_met->load(); }, then);
  EXPECT_EQ(then->value(), 0u);
  *is_met = true;
  EXPECT_TRUE(soon([&] { return then->value() == 1; }));
}

TEST(Watch, EndsWhenNobodyWaitsAnyMore) {
  ASSERT_TRUE(start_watch());
  const auto device = hal::make_null_device();
  auto then = device->create_semaphore(0);
  auto kept = std::make_shared<int>();
  const std::weak_ptr<int> left = kept;
  watch([kept = std::move(kept)] { return false; }, then);
  EXPECT_FALSE(left.expired());
  then.reset();
  EXPECT_TRUE(soon([&] { return left.expired(); }));
}

}  // namespace
}  // namespace cupola::runtime
