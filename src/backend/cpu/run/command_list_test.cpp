#include "backend/cpu/run/command_list.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

// Oracle: std::deque with the same operations.

namespace cupola::cpu {
namespace {

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
        list.front().emplace<hal::Timestamp>();
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

}  // namespace
}  // namespace cupola::cpu
