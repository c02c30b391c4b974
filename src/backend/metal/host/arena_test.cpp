#include "backend/metal/host/arena.h"

#include <algorithm>
#include <vector>

#include "backend/metal/host/device_fixture.h"

namespace cupola::metal {
namespace {

constexpr uint64_t kBytes = 8 * Arena::kAlignment;

class MetalArena : public testing::Test {
 protected:
  const Metal& metal = *Metal::open().value();
  const Object device{metal, metal.create_device()};
  const std::unique_ptr<Arena> arena = Arena::make(metal, device.id(), kBytes).value();
};

TEST_F(MetalArena, PartsAreAlignedApartAndZero) {
  std::vector<ArenaPart> parts;
  for (const uint64_t alignment : {uint64_t{64}, uint64_t{4096}, Arena::kAlignment, uint64_t{256}}) {
    parts.push_back(arena->take(1000, alignment).value());
    EXPECT_EQ(reinterpret_cast<uint64_t>(parts.back().address()) % alignment, 0u);
  }
  std::ranges::sort(parts, {}, &ArenaPart::address);
  for (size_t i = 1; i < parts.size(); ++i) EXPECT_LE(parts[i - 1].address() + parts[i - 1].size(), parts[i].address());
  for (const ArenaPart& part : parts)
    EXPECT_EQ(std::count(part.address(), part.address() + part.size(), std::byte{0}), std::ptrdiff_t(part.size()));
}

TEST_F(MetalArena, WhatComesBackIsOnePieceAndZeroAgain) {
  for (const int order : {0, 1, 2}) {
    ArenaPart parts[3];
    for (ArenaPart& part : parts) {
      part = arena->take(kBytes / 4 + 64, 64).value();
      std::fill_n(part.address(), part.size(), std::byte{1});
    }
    EXPECT_FALSE(arena->take(kBytes / 4, 64));
    for (int i = 0; i < 3; ++i) parts[(i + order) % 3] = ArenaPart();
    const auto whole = arena->take(kBytes, Arena::kAlignment);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(std::count(whole->address(), whole->address() + kBytes, std::byte{0}), std::ptrdiff_t(kBytes));
  }
}

TEST_F(MetalArena, TheGpusAddressesDifferByOneConstant) {
  const ArenaPart first = arena->take(64, 64).value(), second = arena->take(64, 64).value();
  EXPECT_NE(arena->to_gpu(), 0u);
  EXPECT_EQ(arena->gpu_address(second.address()) - arena->gpu_address(first.address()),
            static_cast<uint64_t>(second.address() - first.address()));
}

}  // namespace
}  // namespace cupola::metal
