#include "backend/cpu/run/device_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "backend/cpu/run/device_fixture.h"

// Kernels' malloc and free. Oracle: "CUDA C++ Programming Guide, Dynamic Global Memory Allocation": 16-byte aligned,
// null when there is too little, limited by the malloc heap size; and a map of what the test itself holds.

namespace cupola::cpu {
namespace {

constexpr uint64_t kReach = 256 << 20;

TEST(DeviceHeap, BlocksAreAlignedAndKeepWhatIsTheirs) {
  DeviceHeap heap(kReach);
  heap.set_limit(kReach);
  std::mt19937 random(7);
  std::map<std::byte*, std::pair<size_t, unsigned char>> live;  // begin to size and contents
  for (int i = 0; i < 20000; ++i) {
    if (live.size() < 500 || random() % 2) {
      const size_t bytes = random() % 50 == 0 ? 1 + random() % 500000 : 1 + random() % 3000;
      auto* block = static_cast<std::byte*>(heap.allocate(bytes));
      ASSERT_NE(block, nullptr);
      ASSERT_EQ(reinterpret_cast<uint64_t>(block) % 16, 0u);
      const auto value = static_cast<unsigned char>(random());
      const auto after = live.lower_bound(block);
      if (after != live.end()) ASSERT_LE(block + bytes, after->first);
      if (after != live.begin()) ASSERT_LE(std::prev(after)->first + std::prev(after)->second.first, block);
      std::memset(block, value, bytes);
      live[block] = {bytes, value};
    } else {
      auto chosen = std::next(live.begin(), static_cast<ptrdiff_t>(random() % live.size()));
      const auto [bytes, value] = chosen->second;
      for (size_t at : {size_t{0}, bytes / 2, bytes - 1})
        ASSERT_EQ(static_cast<unsigned char>(chosen->first[at]), value);
      ASSERT_TRUE(heap.release(chosen->first));
      live.erase(chosen);
    }
  }
  for (const auto& [block, contents] : live) ASSERT_TRUE(heap.release(block));
  EXPECT_EQ(heap.used(), 0u);
}

TEST(DeviceHeap, TellsBadPointers) {
  DeviceHeap heap(kReach);
  int local = 0;
  EXPECT_TRUE(heap.release(nullptr));
  EXPECT_FALSE(heap.release(&local));
  auto* small = static_cast<std::byte*>(heap.allocate(100));
  auto* large = static_cast<std::byte*>(heap.allocate(200000));
  EXPECT_FALSE(heap.release(&local));
  EXPECT_FALSE(heap.release(small + 16));
  EXPECT_FALSE(heap.release(small + 128));
  EXPECT_FALSE(heap.release(large + 16));
  EXPECT_FALSE(heap.release(large + (64 << 10)));
  EXPECT_FALSE(heap.release(large + (1 << 20)));
  EXPECT_TRUE(heap.release(small));
  EXPECT_FALSE(heap.release(small));
  EXPECT_TRUE(heap.release(large));
  EXPECT_FALSE(heap.release(large));
}

TEST(DeviceHeap, KeepsToItsLimit) {
  DeviceHeap heap(kReach);
  EXPECT_EQ(heap.allocate(0), nullptr);
  EXPECT_EQ(heap.allocate(DeviceHeap::kUsualLimit + 1), nullptr);
  heap.set_limit(64 * 100);
  std::vector<void*> blocks;
  while (void* block = heap.allocate(64)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), 100u);
  EXPECT_TRUE(heap.release(blocks.back()));
  EXPECT_EQ(heap.allocate(65), nullptr);
  EXPECT_NE(heap.allocate(64), nullptr);
  heap.set_limit(UINT64_MAX);
  EXPECT_EQ(heap.allocate(UINT64_MAX), nullptr);
  EXPECT_EQ(heap.allocate(kReach + 1), nullptr);
  void* large = heap.allocate(kReach / 2);
  EXPECT_NE(large, nullptr);
  EXPECT_EQ(heap.allocate(kReach / 2), nullptr);
  EXPECT_TRUE(heap.release(large));
  EXPECT_NE(heap.allocate(kReach / 2), nullptr);
}

TEST(DeviceHeap, StartsAnewWhenCleared) {
  DeviceHeap heap(kReach);
  void* block = heap.allocate(1000);
  heap.clear();
  EXPECT_EQ(heap.used(), 0u);
  EXPECT_FALSE(heap.release(block));
  EXPECT_NE(heap.allocate(1000), nullptr);
}

using KernelHeap = DeviceFixture;

/// Allocates MiBs until there are no more, and leaves them.
void take_all(ThreadContext* c, const std::byte* block) {
  while (c->services->malloc(c, 1 << 20)) ++*parameters_of<uint32_t*>(block);
}

TEST_F(KernelHeap, IsTheDomainsAndEndsWithIt) {
  const auto domain = device_->create_domain();
  queue_ = device_->create_queue(0, domain).value();
  uint32_t taken = 0;
  const auto expect_taken = [&](uint32_t expected) {
    taken = 0;
    launch(take_all, {{1}, {1}}, &taken);
    expect_success();
    EXPECT_EQ(taken, expected);
  };
  expect_taken(8);
  domain->limit_heap(20 << 20);
  expect_taken(12);
  expect_taken(0);
  domain->clear_heap();
  expect_taken(20);
  queue_ = device_->create_queue(0).value();
  expect_taken(8);
}

void free_badly(ThreadContext* c, const std::byte* block) {
  auto* memory = static_cast<std::byte*>(c->services->malloc(c, 64));
  if (*parameters_of<bool*>(block)) c->services->free(c, memory);
  c->services->free(c, memory + (*parameters_of<bool*>(block) ? 0 : 16));
}

TEST_F(KernelHeap, ABadFreeIsTheKernelsFault) {
  for (bool twice : {false, true}) {
    launch(free_badly, {{1}, {1}}, &twice);
    const Result<> result = synchronize();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::IllegalAddress);
    EXPECT_NE(result.error().message.find("which device malloc did not give or which was freed before"),
              std::string::npos)
        << result.error().message;
    while (queue_->progress()->value() < last_) std::this_thread::yield();
    device_->clear_fault();
  }
}

}  // namespace
}  // namespace cupola::cpu
