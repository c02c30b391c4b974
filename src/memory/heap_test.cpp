#include "memory/heap.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <thread>

namespace cupola::memory {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kChunk = 2 * kMiB;

/// Addresses and backing as a device gives them, without memory behind: counts what is backed and refuses what a Heap
/// must not do, such as backing a chunk twice.
class FakeDevice final : public hal::Device {
 public:
  explicit FakeDevice(uint64_t memory_bytes) { properties_.memory_bytes = memory_bytes; }
  ~FakeDevice() override { EXPECT_EQ(reservations, 0u); }

  const hal::DeviceProperties& properties() const override { return properties_; }
  uint64_t memory_in_use() const override { return backed.size() * kChunk; }
  uint64_t chunk_bytes() const override { return kChunk; }
  Result<std::unique_ptr<hal::Buffer>> reserve(uint64_t size) override;
  std::shared_ptr<hal::Domain> create_domain() override { return nullptr; }
  Result<std::unique_ptr<hal::Queue>> create_queue(int, std::shared_ptr<hal::Domain>) override {
    return fail(ErrorCode::NotSupported, "no queues");
  }
  std::shared_ptr<hal::Semaphore> create_semaphore(uint64_t) override { return nullptr; }
  Result<std::shared_ptr<hal::Executable>> load(std::span<const std::byte>, hal::CodeSource) override {
    return fail(ErrorCode::NotSupported, "no kernels");
  }
  uint32_t occupancy(const hal::Executable&, uint32_t, uint32_t, uint32_t) const override { return 0; }
  std::optional<Error> fault() const override { return std::nullopt; }
  void clear_fault() override {}
  void flush_output() override {}

  bool is_backed(hal::Address address) const { return backed.contains(address / kChunk); }

  std::set<uint64_t> backed;  ///< chunk numbers
  size_t reservations = 0;
  bool commit_fails = false;

 private:
  hal::DeviceProperties properties_;
  hal::Address next_ = 1024 * kMiB;
};

class FakeBuffer final : public hal::Buffer {
 public:
  FakeBuffer(FakeDevice& device, hal::Address address, uint64_t size)
      : device_(device), address_(address), size_(size) {
    ++device_.reservations;
  }
  ~FakeBuffer() override {
    --device_.reservations;
    std::erase_if(device_.backed, [&](uint64_t chunk) { return chunk * kChunk - address_ < size_; });
  }
  hal::Address address() const override { return address_; }
  uint64_t size() const override { return size_; }
  Result<> commit(uint64_t offset, uint64_t size) override {
    if (device_.commit_fails) return fail(ErrorCode::OutOfMemory, "the machine has no more");
    EXPECT_TRUE(offset % kChunk == 0 && size % kChunk == 0 && offset + size <= size_);
    for (uint64_t at = offset; at < offset + size; at += kChunk)
      EXPECT_TRUE(device_.backed.insert((address_ + at) / kChunk).second) << "backed twice";
    return {};
  }
  Result<> decommit(uint64_t offset, uint64_t size) override {
    EXPECT_TRUE(offset % kChunk == 0 && size % kChunk == 0 && offset + size <= size_);
    for (uint64_t at = offset; at < offset + size; at += kChunk)
      EXPECT_EQ(device_.backed.erase((address_ + at) / kChunk), 1u) << "was not backed";
    return {};
  }

 private:
  FakeDevice& device_;
  const hal::Address address_;
  const uint64_t size_;
};

Result<std::unique_ptr<hal::Buffer>> FakeDevice::reserve(uint64_t size) {
  size = (size + kChunk - 1) / kChunk * kChunk;
  auto buffer = std::make_unique<FakeBuffer>(*this, next_, size);
  next_ += size;  // reservations touch: blocks of two must still not be joined
  return buffer;
}

Range allocate(Heap& heap, uint64_t bytes) {
  Result<Allocation> allocation = heap.allocate(bytes);
  if (!allocation) {
    ADD_FAILURE() << allocation.error().message;
    return {};
  }
  return allocation->release();
}

TEST(Heap, AllocationsAreAlignedBackedAndApart) {
  FakeDevice device(64 * kMiB);
  Heap heap(device);
  std::map<hal::Address, uint64_t> live;
  for (uint64_t bytes : {1ul, 511ul, 512ul, 513ul, 3 * kMiB, 7ul, 2 * kMiB}) {
    Range range = allocate(heap, bytes);
    EXPECT_EQ(range.address % Heap::kAlignment, 0u);
    EXPECT_EQ(range.size, bytes);
    for (hal::Address at = range.address; at < range.address + bytes; at += 512) EXPECT_TRUE(device.is_backed(at));
    for (auto [address, size] : live) EXPECT_TRUE(range.address >= address + size || address >= range.address + bytes);
    live[range.address] = bytes;
  }
}

TEST(Heap, ZeroBytesAreInvalid) {
  FakeDevice device(64 * kMiB);
  Heap heap(device);
  EXPECT_EQ(heap.allocate(0).error().code, ErrorCode::InvalidValue);
}

TEST(Heap, FreedTwiceOrNeverAllocatedIsInvalid) {
  FakeDevice device(64 * kMiB);
  Heap heap(device);
  EXPECT_EQ(heap.free(0).error().code, ErrorCode::InvalidValue);
  const Range range = allocate(heap, 4096);
  const Range other = allocate(heap, 4096);
  EXPECT_EQ(heap.free(range.address + 512).error().code, ErrorCode::InvalidValue);
  EXPECT_TRUE(heap.free(range.address));
  EXPECT_EQ(heap.free(range.address).error().code, ErrorCode::InvalidValue);
  EXPECT_TRUE(heap.free(other.address));
  EXPECT_EQ(heap.free(other.address).error().code, ErrorCode::InvalidValue);
}

TEST(Heap, TrimKeepsWhatIsInUseAndWhatItIsTold) {
  FakeDevice device(64 * kMiB);
  Heap heap(device, {.slack = UINT64_MAX});
  const Range low = allocate(heap, 4 * kChunk), used = allocate(heap, kChunk), high = allocate(heap, 5 * kChunk);
  ASSERT_TRUE(heap.free(low.address));
  ASSERT_TRUE(heap.free(high.address));
  EXPECT_EQ(device.memory_in_use(), 10 * kChunk);
  heap.trim(10 * kChunk);
  EXPECT_EQ(device.memory_in_use(), 10 * kChunk);
  heap.trim(7 * kChunk);
  EXPECT_EQ(device.memory_in_use(), 7 * kChunk);
  EXPECT_EQ(heap.usage().backed, 7 * kChunk);
  heap.trim(0);
  EXPECT_EQ(device.memory_in_use(), kChunk);
  EXPECT_TRUE(device.is_backed(used.address));
  ASSERT_TRUE(heap.free(used.address));
  EXPECT_EQ(device.memory_in_use(), kChunk);  // nothing limits this heap's slack
  heap.trim(0);
  EXPECT_EQ(device.memory_in_use(), 0u);
}

TEST(Heap, FreeNeighboursBecomeOneRange) {
  FakeDevice device(64 * kMiB);
  Heap heap(device);
  Range parts[4];
  for (Range& part : parts) part = allocate(heap, kMiB);
  for (int i : {0, 2, 1}) EXPECT_TRUE(heap.free(parts[i].address));  // joins on both sides
  EXPECT_EQ(allocate(heap, 3 * kMiB).address, parts[0].address);
}

TEST(Heap, SmallestRangeThatFitsIsTaken) {
  FakeDevice device(64 * kMiB);
  Heap heap(device);
  const Range large = allocate(heap, 4 * kMiB);
  allocate(heap, 512);
  const Range small = allocate(heap, kMiB);
  allocate(heap, 512);
  EXPECT_TRUE(heap.free(large.address));
  EXPECT_TRUE(heap.free(small.address));
  EXPECT_EQ(allocate(heap, kMiB).address, small.address);
  EXPECT_EQ(allocate(heap, kMiB + 1).address, large.address);
}

TEST(Heap, FindsTheAllocationThatHoldsAnAddress) {
  FakeDevice device(64 * kMiB);
  Heap heap(device);
  const Range first = allocate(heap, 1000), second = allocate(heap, 5000);
  EXPECT_EQ(heap.find(first.address), first);
  EXPECT_EQ(heap.find(first.address + 999), first);
  EXPECT_EQ(heap.find(first.address + 1000), std::nullopt);  // padding belongs to nobody
  EXPECT_EQ(heap.find(second.address + 4999), second);
  EXPECT_EQ(heap.find(0), std::nullopt);
  EXPECT_EQ(heap.find(~hal::Address{0}), std::nullopt);
  EXPECT_TRUE(heap.free(first.address));
  EXPECT_EQ(heap.find(first.address), std::nullopt);
}

TEST(Heap, WholeMemoryCanBeAllocatedAndNoMore) {
  FakeDevice device(16 * kMiB);
  Heap heap(device);
  const Range whole = allocate(heap, 16 * kMiB);
  EXPECT_EQ(heap.usage().free(), 0u);
  Result<Allocation> more = heap.allocate(4096);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::OutOfMemory);
  EXPECT_NE(more.error().message.find("4096 bytes asked for, 0 of"), std::string::npos) << more.error().message;
  EXPECT_TRUE(heap.free(whole.address));
  EXPECT_EQ(heap.usage().free(), 16 * kMiB);
  for (uint64_t bytes : {16 * kMiB + 1, ~uint64_t{0}})
    EXPECT_EQ(heap.allocate(bytes).error().code, ErrorCode::OutOfMemory);
}

TEST(Heap, SlackIsBoundedAndGivesWayToNeed) {
  FakeDevice device(256 * kMiB);
  Heap heap(device);
  const Range large = allocate(heap, 200 * kMiB);
  EXPECT_TRUE(heap.free(large.address));
  EXPECT_EQ(heap.usage().backed, 0u);  // more than the slack allowed

  const Range small = allocate(heap, 60 * kMiB);
  EXPECT_TRUE(heap.free(small.address));
  EXPECT_EQ(heap.usage().backed, 60 * kMiB);  // kept for the next
  EXPECT_EQ(heap.usage().used, 0u);

  const Range again = allocate(heap, 2 * kMiB);
  // The 58 MiB of slack behind `again` become part of it or go.
  const Range rest = allocate(heap, 254 * kMiB);
  EXPECT_LE(device.backed.size() * kChunk, 256 * kMiB);
  EXPECT_EQ(heap.usage().free(), 0u);
  EXPECT_TRUE(heap.free(again.address));
  EXPECT_TRUE(heap.free(rest.address));
}

TEST(Heap, LargeReservationsGoBackToTheDevice) {
  FakeDevice device(8192 * kMiB);
  Heap heap(device);
  const Range large = allocate(heap, 3000 * kMiB);
  const Range small = allocate(heap, 512);
  EXPECT_EQ(device.reservations, 2u);
  EXPECT_TRUE(heap.free(large.address));
  EXPECT_EQ(device.reservations, 1u);
  EXPECT_TRUE(heap.free(small.address));
  EXPECT_EQ(device.reservations, 1u);
  EXPECT_EQ(heap.usage().used, 0u);
}

TEST(Heap, MachineWithoutMemoryIsOutOfMemoryAndLeavesTheHeapWhole) {
  FakeDevice device(64 * kMiB);
  Heap heap(device);
  device.commit_fails = true;
  EXPECT_EQ(heap.allocate(4096).error().code, ErrorCode::OutOfMemory);
  EXPECT_EQ(heap.usage().used, 0u);
  device.commit_fails = false;
  EXPECT_TRUE(heap.allocate(64 * kMiB));
}

TEST(Allocation, FreesItselfUnlessReleased) {
  FakeDevice device(64 * kMiB);
  Heap heap(device);
  {
    Result<Allocation> held = heap.allocate(4096);
    ASSERT_TRUE(held);
    Allocation moved = std::move(*held);
    EXPECT_EQ(heap.usage().allocations, 1u);
    moved = std::move(*heap.allocate(8192));
    EXPECT_EQ(heap.usage().allocations, 1u);
    EXPECT_EQ(moved.size(), 8192u);
  }
  EXPECT_EQ(heap.usage().allocations, 0u);
  const Range released = heap.allocate(4096)->release();
  EXPECT_EQ(heap.find(released.address), released);
}

// Oracle: a std::map of what is live, from which overlap, the answer of find() and the used chunks are worked out anew.
class HeapModel : public testing::TestWithParam<unsigned> {};

TEST_P(HeapModel, AgreesWithAMap) {
  std::mt19937_64 random(GetParam());
  FakeDevice device(96 * kMiB);
  Heap heap(device);
  std::map<hal::Address, uint64_t> live;
  size_t refused = 0;
  for (int step = 0; step < 4000; ++step) {
    if (live.empty() || random() % 100 < 52) {
      const uint64_t bytes = 1 + random() % (uint64_t{1} << (4 + random() % 21));
      Result<Allocation> made = heap.allocate(bytes);
      if (!made) {
        ASSERT_EQ(made.error().code, ErrorCode::OutOfMemory);
        ++refused;
      } else {
        const Range range = made->release();
        auto after = live.lower_bound(range.address);
        if (after != live.end()) ASSERT_LE(range.address + bytes, after->first);
        if (after != live.begin()) ASSERT_GE(range.address, std::prev(after)->first + std::prev(after)->second);
        live[range.address] = bytes;
      }
    } else {
      auto victim = std::next(live.begin(), random() % live.size());
      ASSERT_TRUE(heap.free(victim->first));
      live.erase(victim);
    }
    if (step % 16) continue;
    std::set<uint64_t> chunks;
    for (auto [address, bytes] : live) {
      const uint64_t end = address + (bytes + Heap::kAlignment - 1) / Heap::kAlignment * Heap::kAlignment;
      for (uint64_t chunk = address / kChunk; chunk * kChunk < end; ++chunk) chunks.insert(chunk);
      const hal::Address inside = address + random() % bytes;
      ASSERT_EQ(heap.find(inside), (Range{address, bytes}));
    }
    const Heap::Usage usage = heap.usage();
    ASSERT_EQ(usage.used, chunks.size() * kChunk);
    ASSERT_EQ(usage.backed, device.backed.size() * kChunk);
    ASSERT_LE(usage.backed, usage.total);
    ASSERT_EQ(usage.allocations, live.size());
    for (uint64_t chunk : chunks) ASSERT_TRUE(device.backed.contains(chunk));
  }
  EXPECT_GT(refused, 0u);  // the walk reached the limit
  for (auto [address, bytes] : live) ASSERT_TRUE(heap.free(address));
  EXPECT_EQ(heap.usage().used, 0u);
  EXPECT_TRUE(heap.allocate(96 * kMiB));  // everything joined again
}

INSTANTIATE_TEST_SUITE_P(Seeds, HeapModel, testing::Range(1u, 9u));

TEST(Heap, ThreadsAllocateAndFreeAtTheSameTime) {
  FakeDevice device(256 * kMiB);
  Heap heap(device);
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([&heap, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 500; ++i) {
        Result<Allocation> mine = heap.allocate(1 + random() % 100000);
        if (!mine || heap.find(mine->address()) != Range{mine->address(), mine->size()}) ADD_FAILURE();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heap.usage().allocations, 0u);
}

}  // namespace
}  // namespace cupola::memory
