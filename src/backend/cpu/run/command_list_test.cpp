#include "backend/cpu/run/command_list.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

// Oracle: std::deque with the same operations.

namespace cupola::cpu {
namespace {

class Code final : public hal::Executable {
 public:
  std::span<const hal::KernelInfo> kernels() const override { return {}; }
  std::span<const hal::SymbolInfo> symbols() const override { return {}; }
};

hal::Command launch_of(const std::shared_ptr<hal::Executable>& code) {
  hal::Launch launch;
  launch.executable = code;
  return launch;
}

uint64_t value_of(const hal::Command& command) {
  return std::get<hal::Fill>(command).value;
}

TEST(CommandList, IsFirstInFirstOut) {
  CommandList list;
  std::deque<uint32_t> expected;
  uint32_t next = 0, random = 1;
  for (int step = 0; step < 20000; ++step) {
    random = random * 1664525 + 1013904223;
    const uint32_t count = (random >> 20) % 41;
    if (random >> 31) {
      std::vector<hal::Command> commands(count);
      for (hal::Command& command : commands) {
        command = hal::Fill{.value = next};
        expected.push_back(next++);
      }
      list.append(commands);
    } else {
      for (uint32_t i = 0; i < count && !expected.empty(); ++i) {
        ASSERT_EQ(value_of(list.front()), expected.front());
        list.pop();
        expected.pop_front();
      }
    }
    ASSERT_EQ(list.empty(), expected.empty());
  }
}

TEST(CommandList, LeavesACommandInItsPlace) {
  CommandList list;
  hal::Command first = hal::Fill{.value = 7};
  list.append(std::span(&first, 1));
  const hal::Command* const place = &list.front();
  std::vector<hal::Command> more(1000, hal::Command(hal::Fill{.value = 8}));
  list.append(more);
  EXPECT_EQ(&list.front(), place);
  EXPECT_EQ(value_of(*place), 7u);
}

/// Against the code itself: it lives while a launch of it is listed, and not after the list is empty.
TEST(CommandList, CodeLivesAsLongAsItsLaunches) {
  CommandList list;
  std::vector<std::shared_ptr<hal::Executable>> codes{std::make_shared<Code>(), std::make_shared<Code>()};
  const std::vector<std::weak_ptr<hal::Executable>> lives(codes.begin(), codes.end());
  constexpr uint32_t kLaunches = 100;
  uint32_t random = 3;
  std::deque<size_t> expected;
  for (uint32_t i = 0; i < kLaunches; ++i) {
    random = random * 1664525 + 1013904223;
    expected.push_back(random >> 31);
    hal::Command command = launch_of(codes[expected.back()]);
    list.append(std::span(&command, 1));
  }
  codes.clear();
  while (!expected.empty()) {
    for (const size_t which : expected) ASSERT_FALSE(lives[which].expired()) << expected.size();
    EXPECT_EQ(std::get<hal::Launch>(list.front()).executable.get(), lives[expected.front()].lock().get());
    list.pop();
    expected.pop_front();
  }
  for (const auto& life : lives) EXPECT_TRUE(life.expired());
}

TEST(CommandList, LaunchesInARowOwnTheirCodeTogether) {
  CommandList list;
  const std::shared_ptr<hal::Executable> code = std::make_shared<Code>();
  for (int i = 0; i < 160; ++i) {
    hal::Command command = launch_of(code);
    list.append(std::span(&command, 1));
  }
  EXPECT_LE(code.use_count(), 1 + 160 / 16);
}

TEST(CommandList, TakesWhatAnotherHolds) {
  CommandList a, b;
  std::vector<hal::Command> commands(20, hal::Command(hal::Fill{.value = 5}));
  a.append(commands);
  b.take(a);
  EXPECT_TRUE(a.empty());
  hal::Command one = hal::Fill{.value = 6};
  a.append(std::span(&one, 1));
  EXPECT_EQ(value_of(a.front()), 6u);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(value_of(b.front()), 5u);
    b.pop();
  }
  EXPECT_TRUE(b.empty());
}

}  // namespace
}  // namespace cupola::cpu
