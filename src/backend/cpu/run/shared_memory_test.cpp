// Memory that is mapped, moved and exported. Oracle: the contracts in hal/buffer.h and hal/device.h.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "backend/cpu/run/cpu_device.h"

namespace cupola::cpu {
namespace {

class SharedMemory : public testing::Test {
 protected:
  std::byte* at(const hal::Buffer& buffer, uint64_t offset = 0) {
    return reinterpret_cast<std::byte*>(buffer.address() + offset);
  }
  std::unique_ptr<hal::Device> device_ = make_cpu_device();
  const uint64_t chunk_ = device_->chunk_bytes();
};

TEST_F(SharedMemory, SharingKeepsContentsAndAddresses) {
  auto buffer = device_->reserve(4 * chunk_).value();
  ASSERT_TRUE(buffer->commit(chunk_, 2 * chunk_));
  std::memset(at(*buffer, chunk_), 7, 2 * chunk_);
  const hal::Address before = buffer->address();
  auto memory = buffer->share().value();
  EXPECT_EQ(buffer->address(), before);
  EXPECT_EQ(buffer->share().value(), memory);
  EXPECT_EQ(*at(*buffer, chunk_), std::byte{7});
  EXPECT_EQ(*at(*buffer, 3 * chunk_ - 1), std::byte{7});

  // Another process would import the descriptor and map it; what either writes, both see.
  auto imported = device_->import_memory(memory->descriptor().value()).value();
  auto other = device_->reserve(imported->size()).value();
  ASSERT_TRUE(other->map(0, *imported, 0, imported->size()));
  ASSERT_TRUE(other->protect(0, imported->size(), hal::Access::ReadWrite));
  EXPECT_EQ(*at(*other, chunk_), std::byte{7});
  *at(*other, chunk_ + 5) = std::byte{9};
  EXPECT_EQ(*at(*buffer, chunk_ + 5), std::byte{9});

  ASSERT_TRUE(buffer->decommit(chunk_, chunk_));
  ASSERT_TRUE(buffer->commit(chunk_, chunk_));
  EXPECT_EQ(*at(*buffer, chunk_ + 5), std::byte{0});
  EXPECT_EQ(*at(*buffer, 2 * chunk_), std::byte{7});
}

TEST_F(SharedMemory, WritersGoOnWhileMemoryMoves) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    auto buffer = device_->reserve(8 * chunk_).value();
    ASSERT_TRUE(buffer->commit(0, 8 * chunk_));
    auto* words = reinterpret_cast<std::atomic<uint64_t>*>(buffer->address());
    const size_t count = 8 * chunk_ / sizeof(uint64_t);
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> written{0};
    std::thread writer([&] {
      for (uint64_t i = 0; !stop.load(); ++i) {
        words[i * 4099 % count].fetch_add(1, std::memory_order_relaxed);
        written.store(i + 1);
      }
    });
    while (written.load() < 1000) std::this_thread::yield();
    const bool shared = buffer->share().has_value();
    stop.store(true);
    writer.join();
    ASSERT_TRUE(shared);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; ++i) sum += words[i].load(std::memory_order_relaxed);
    ASSERT_EQ(sum, written.load()) << "a write was lost in round " << round;
  }
}

TEST_F(SharedMemory, AnyNumberOfBuffersIsShared) {
  std::vector<std::unique_ptr<hal::Buffer>> buffers;  // all live: none has the address of an earlier one
  for (int i = 0; i < 300; ++i) {
    buffers.push_back(device_->reserve(chunk_).value());
    ASSERT_TRUE(buffers.back()->commit(0, chunk_));
    const auto memory = buffers.back()->share();
    ASSERT_TRUE(memory) << i << ": " << memory.error().message;
    ASSERT_TRUE(buffers.back()->decommit(0, chunk_));
  }
}

TEST_F(SharedMemory, MemoryIsMappedTwiceAndCountedOnce) {
  auto memory = device_->create_memory(2 * chunk_, false).value();
  EXPECT_EQ(memory->descriptor().error().code, ErrorCode::NotSupported);
  auto first = device_->reserve(2 * chunk_).value(), second = device_->reserve(chunk_).value();
  ASSERT_TRUE(first->map(0, *memory, 0, 2 * chunk_));
  ASSERT_TRUE(second->map(0, *memory, chunk_, chunk_));
  ASSERT_TRUE(first->protect(0, 2 * chunk_, hal::Access::ReadWrite));
  ASSERT_TRUE(second->protect(0, chunk_, hal::Access::Read));
  EXPECT_EQ(*at(*second), std::byte{0});
  *at(*first, chunk_) = std::byte{3};
  EXPECT_EQ(*at(*second), std::byte{3});
  EXPECT_EQ(first->map(0, *memory, chunk_, 2 * chunk_).error().code, ErrorCode::InvalidValue);
  ASSERT_TRUE(first->unmap(0, 2 * chunk_));
  EXPECT_EQ(*at(*second), std::byte{3});
}

TEST_F(SharedMemory, WhatIsReleasedIsZeroForTheNext) {
  auto buffer = device_->reserve(chunk_).value();
  for (int round = 0; round < 3; ++round) {
    auto memory = device_->create_memory(chunk_, round == 2).value();
    ASSERT_TRUE(buffer->map(0, *memory, 0, chunk_));
    ASSERT_TRUE(buffer->protect(0, chunk_, hal::Access::ReadWrite));
    EXPECT_EQ(*at(*buffer, 100), std::byte{0});
    *at(*buffer, 100) = std::byte{1};
    ASSERT_TRUE(buffer->unmap(0, chunk_));
  }
}

TEST_F(SharedMemory, MoreThanTheDeviceHasIsRefused) {
  const uint64_t all = device_->properties().memory_bytes / chunk_ * chunk_;
  EXPECT_EQ(device_->create_memory(all + chunk_, false).error().code, ErrorCode::OutOfMemory);
  auto most = device_->create_memory(all, true);  // nothing of it is touched
  ASSERT_TRUE(most);
  EXPECT_EQ(device_->create_memory(chunk_, false).error().code, ErrorCode::OutOfMemory);
  most->reset();
  EXPECT_TRUE(device_->create_memory(chunk_, false));
}

TEST_F(SharedMemory, OtherFilesAreNoMemory) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(device_->import_memory(ends[0]).error().code, ErrorCode::InvalidValue);
  EXPECT_EQ(device_->import_memory(-1).error().code, ErrorCode::InvalidValue);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace cupola::cpu
