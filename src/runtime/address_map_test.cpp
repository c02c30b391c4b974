#include "runtime/address_map.h"

#include <gtest/gtest.h>

namespace cupola::runtime {
namespace {

constexpr auto kAny = [](const MemoryRange&) { return true; };

TEST(AddressMap, FindsByInnerAddress) {
  AddressMap map;
  ASSERT_TRUE(map.add({1000, 100, MemoryKind::Device}));
  EXPECT_FALSE(map.find(999));
  EXPECT_EQ(map.find(1000)->address, 1000u);
  EXPECT_EQ(map.find(1099)->address, 1000u);
  EXPECT_FALSE(map.find(1100));
}

TEST(AddressMap, RefusesOverlap) {
  AddressMap map;
  ASSERT_TRUE(map.add({1000, 100, MemoryKind::Device}));
  EXPECT_EQ(map.add({1099, 1, MemoryKind::Registered}).error().code, ErrorCode::HostMemoryAlreadyRegistered);
  EXPECT_EQ(map.add({900, 101, MemoryKind::Registered}).error().code, ErrorCode::HostMemoryAlreadyRegistered);
  EXPECT_TRUE(map.add({900, 100, MemoryKind::Registered}));
  EXPECT_TRUE(map.add({1100, 1, MemoryKind::Registered}));
}

TEST(AddressMap, TakesOnlyBeginningsOfTheKindWanted) {
  AddressMap map;
  ASSERT_TRUE(map.add({1000, 100, MemoryKind::Device}));
  EXPECT_FALSE(map.take(1001, kAny));
  EXPECT_FALSE(map.take(1000, [](const MemoryRange& range) { return range.is_host(); }));
  EXPECT_TRUE(map.take(1000, kAny));
  EXPECT_FALSE(map.find(1000));
}

TEST(AddressMap, IdsAreNeverUsedTwice) {
  AddressMap map;
  ASSERT_TRUE(map.add({1000, 1, MemoryKind::Device}));
  const uint64_t first = map.take(1000, kAny)->id;
  ASSERT_TRUE(map.add({1000, 1, MemoryKind::Device}));
  EXPECT_NE(map.find(1000)->id, first);
}

}  // namespace
}  // namespace cupola::runtime
