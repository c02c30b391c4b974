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

TEST(AddressMap, ReplacesAllOrNothing) {
  AddressMap map;
  ASSERT_TRUE(map.add({1000, 100, MemoryKind::Mapped}));
  ASSERT_TRUE(map.add({2000, 100, MemoryKind::Device}));
  const hal::Address old[] = {1000};
  const auto replaced = [&](std::vector<MemoryRange> others) { return map.replace(MemoryKind::Mapped, old, others); };
  const MemoryRange half{1000, 50, MemoryKind::Mapped};
  const uint64_t id = map.find(1000)->id;
  for (const MemoryRange& wrong :
       {MemoryRange{2050, 1, MemoryKind::Mapped}, MemoryRange{1049, 9, MemoryKind::Mapped}}) {
    EXPECT_EQ(replaced({half, wrong}).error().code, ErrorCode::HostMemoryAlreadyRegistered);
    EXPECT_EQ(map.find(1099)->size, 100u);
    EXPECT_EQ(map.find(1000)->id, id);
    EXPECT_EQ(map.find(2050)->address, 2000u);
  }
  EXPECT_TRUE(replaced({half, {1060, 40, MemoryKind::Mapped}}));
  EXPECT_EQ(map.find(1049)->size, 50u);
  EXPECT_FALSE(map.find(1050));
  EXPECT_EQ(map.find(1060)->size, 40u);
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
