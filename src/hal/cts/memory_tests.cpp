#include <algorithm>

#include "hal/cts/test_case.h"

// Oracle: the contracts in hal/buffer.h and hal/device.h.

namespace cupola::hal::cts {
namespace {

/// Reads through a copy, as a program would.
std::vector<uint8_t> read_back(TestCase& t, Address address, size_t bytes) {
  std::vector<uint8_t> result(bytes, 0xEE);
  t.run(Copy{.destination = address_of(result.data()), .source = address, .width = bytes});
  return result;
}

void fill(TestCase& t, Address address, uint8_t value, uint64_t bytes) {
  t.run(Fill{.destination = address, .value = value, .width = bytes});
}

void reserve_rounds_up_to_chunks(TestCase& t) {
  const uint64_t chunk = t.device->chunk_bytes();
  EXPECT_EQ(chunk & (chunk - 1), 0u);
  for (const uint64_t size : {uint64_t{1}, chunk - 1, chunk, chunk + 1, 5 * chunk}) {
    auto buffer = t.device->reserve(size).value();
    EXPECT_GE(buffer->size(), size);
    EXPECT_EQ(buffer->size() % chunk, 0u);
    EXPECT_EQ(buffer->address() % chunk, 0u);
    EXPECT_NE(buffer->address(), 0u);
  }
}

void buffers_do_not_overlap(TestCase& t) {
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (int i = 0; i < 50; ++i) buffers.push_back(t.device->reserve((1 + i % 5) * t.device->chunk_bytes()).value());
  std::ranges::sort(buffers, {}, [](const auto& buffer) { return buffer->address(); });
  for (size_t i = 1; i < buffers.size(); ++i)
    EXPECT_LE(buffers[i - 1]->address() + buffers[i - 1]->size(), buffers[i]->address());
}

void what_is_committed_is_zero(TestCase& t) {
  auto buffer = t.make_buffer(3 * t.device->chunk_bytes());
  const auto bytes = read_back(t, buffer->address(), buffer->size());
  EXPECT_EQ(std::ranges::count(bytes, 0), static_cast<ptrdiff_t>(bytes.size()));
}

void address_and_neighbours_survive_decommit(TestCase& t) {
  const uint64_t chunk = t.device->chunk_bytes();
  auto buffer = t.make_buffer(3 * chunk);
  const Address before = buffer->address();
  fill(t, before, 7, buffer->size());
  ASSERT_TRUE(buffer->decommit(chunk, chunk));
  ASSERT_TRUE(buffer->commit(chunk, chunk));
  EXPECT_EQ(buffer->address(), before);
  const auto bytes = read_back(t, before, buffer->size());
  for (uint64_t i = 0; i < bytes.size(); i += 997) ASSERT_EQ(bytes[i], i / chunk == 1 ? 0 : 7) << i;
}

void commit_checks_its_range(TestCase& t) {
  const uint64_t chunk = t.device->chunk_bytes();
  auto buffer = t.device->reserve(2 * chunk).value();
  EXPECT_FALSE(buffer->commit(0, 3 * chunk));
  EXPECT_FALSE(buffer->commit(2 * chunk, chunk));
  EXPECT_FALSE(buffer->commit(1, chunk));
  EXPECT_FALSE(buffer->commit(chunk, uint64_t{0} - chunk));
  EXPECT_TRUE(buffer->commit(chunk, chunk));
}

void more_than_the_devices_memory_is_refused(TestCase& t) {
  const uint64_t chunk = t.device->chunk_bytes();
  const uint64_t size = (t.device->properties().memory_bytes / chunk + 1) * chunk;
  auto buffer = t.device->reserve(size);
  const Result<> committed = buffer ? (*buffer)->commit(0, size) : fail(buffer.error());
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::OutOfMemory);
  const auto endless = t.device->reserve(uint64_t{1} << 62);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, ErrorCode::OutOfMemory);
}

void memory_comes_back_when_a_buffer_goes(TestCase& t) {
  const uint64_t chunk = t.device->chunk_bytes();
  const uint64_t most = t.device->properties().memory_bytes / chunk * chunk;
  for (int i = 0; i < 3; ++i) {
    auto buffer = t.device->reserve(most).value();
    const Result<> committed = buffer->commit(0, most);
    EXPECT_TRUE(committed) << committed.error().message;
  }
}

}  // namespace

std::vector<Test> memory_tests() {
  return {
      {"Memory", "ReserveRoundsUpToChunks", false, reserve_rounds_up_to_chunks},
      {"Memory", "BuffersDoNotOverlap", false, buffers_do_not_overlap},
      {"Memory", "WhatIsCommittedIsZero", false, what_is_committed_is_zero},
      {"Memory", "AddressAndNeighboursSurviveDecommit", false, address_and_neighbours_survive_decommit},
      {"Memory", "CommitChecksItsRange", false, commit_checks_its_range},
      {"Memory", "MoreThanTheDevicesMemoryIsRefused", false, more_than_the_devices_memory_is_refused},
      {"Memory", "MemoryComesBackWhenABufferGoes", false, memory_comes_back_when_a_buffer_goes},
  };
}

}  // namespace cupola::hal::cts
