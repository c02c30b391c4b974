#include "hal/parameter_block.h"

#include <gtest/gtest.h>

// Oracle: what a std::vector of the same bytes holds.

namespace cupola::hal {
namespace {

std::vector<std::byte> pattern(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 3);
  return bytes;
}

bool same(const ParameterBlock& block, const std::vector<std::byte>& bytes) {
  return std::ranges::equal(std::span<const std::byte>(block), bytes);
}

constexpr size_t kSizes[] = {0, 1, 8, 255, 256, 257, 4096};

TEST(ParameterBlock, KeepsItsBytesWhereverItGoes) {
  for (const size_t size : kSizes) {
    for (const size_t other : kSizes) {
      ParameterBlock first(pattern(size)), second(pattern(other));
      ParameterBlock copy = first;
      second = copy;
      copy = ParameterBlock(pattern(other));
      EXPECT_TRUE(same(second, pattern(size)));
      ParameterBlock moved = std::move(second);
      EXPECT_TRUE(same(moved, pattern(size)));
      ParameterBlock assigned(pattern(other));
      assigned = std::move(moved);
      EXPECT_TRUE(same(assigned, pattern(size)));
      EXPECT_TRUE(same(first, pattern(size)));
    }
  }
}

TEST(ParameterBlock, GrowsWithZerosAndKeepsTheRest) {
  for (const size_t from : kSizes) {
    for (const size_t to : kSizes) {
      auto expected = pattern(from);
      ParameterBlock block(expected);
      expected.resize(to);
      block.resize(to);
      EXPECT_TRUE(same(block, expected)) << from << " to " << to;
    }
  }
}

TEST(ParameterBlock, LiesAsItsWidestParameterNeeds) {
  for (const size_t size : kSizes)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(ParameterBlock(pattern(size)).data()) % 16, 0u);
}

}  // namespace
}  // namespace cupola::hal
