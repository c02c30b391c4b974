#include "hal/null/null_device.h"

#include <gtest/gtest.h>

#include <thread>

// What every back-end must do is in hal/cts; here is what only this one does, and enough to stand on its own.

namespace cupola::hal {
namespace {

TEST(NullDevice, RunsNoKernels) {
  auto device = make_null_device();
  auto loaded = device->load({});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::NotSupported);
}

TEST(NullDevice, LaunchIsAStickyFaultThatDropsWhatFollows) {
  auto device = make_null_device();
  auto queue = device->create_queue(0);
  ASSERT_TRUE(queue);
  bool called = false;
  ErrorCode heard{0};
  (*queue)->submit(Launch{});
  (*queue)->submit(Callback{[&](const Error* error) { heard = error ? error->code : ErrorCode{0}; }});
  const auto semaphore = device->create_semaphore(0);
  (*queue)->submit(Signal{semaphore, 1});
  const uint64_t last = (*queue)->submit(HostCall{[&] { called = true; }});
  Result<> done = (*queue)->progress()->wait(last);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::NotSupported);
  while ((*queue)->progress()->value() < last) std::this_thread::yield();
  EXPECT_FALSE(called);
  EXPECT_EQ(semaphore->value(), 1u);
  EXPECT_EQ(heard, ErrorCode::NotSupported);
  EXPECT_TRUE(device->fault());

  device->clear_fault();
  const uint64_t next = (*queue)->submit(HostCall{[&] { called = true; }});
  EXPECT_TRUE((*queue)->progress()->wait(next));
  EXPECT_TRUE(called);
}

TEST(NullDevice, AFaultStaysInItsDomain) {
  auto device = make_null_device();
  const auto broken = device->create_domain(), whole = device->create_domain();
  auto bad = device->create_queue(0, broken).value(), good = device->create_queue(0, whole).value();
  const uint64_t last = bad->submit(Launch{});
  good->submit(Wait{bad->progress(), last});
  bool called = false;
  const uint64_t done = good->submit(HostCall{[&] { called = true; }});
  EXPECT_TRUE(good->progress()->wait(done));
  EXPECT_TRUE(called);
  EXPECT_TRUE(broken->fault());
  EXPECT_TRUE(broken->has_fault());
  EXPECT_FALSE(whole->has_fault());
  EXPECT_FALSE(whole->fault());
  EXPECT_FALSE(device->fault());
}

TEST(NullDevice, FaultWakesWhoWaitsForASignalThatNeverComes) {
  auto device = make_null_device();
  auto queue = device->create_queue(0);
  auto semaphore = device->create_semaphore(0);
  std::thread waiter([&] { EXPECT_FALSE(semaphore->wait(1)); });
  (*queue)->submit(Launch{});
  waiter.join();
}

TEST(NullDevice, BackingIsZeroedAndAlignedToChunks) {
  auto device = make_null_device();
  auto buffer = device->reserve(device->chunk_bytes() + 1);
  ASSERT_TRUE(buffer);
  EXPECT_EQ((*buffer)->size(), 2 * device->chunk_bytes());
  EXPECT_EQ((*buffer)->address() % device->chunk_bytes(), 0u);
  auto* bytes = reinterpret_cast<volatile char*>((*buffer)->address());
  ASSERT_TRUE((*buffer)->commit(0, device->chunk_bytes()));
  bytes[5] = 1;
  ASSERT_TRUE((*buffer)->decommit(0, device->chunk_bytes()));
  ASSERT_TRUE((*buffer)->commit(0, device->chunk_bytes()));
  EXPECT_EQ(bytes[5], 0);
  EXPECT_FALSE((*buffer)->commit(1, device->chunk_bytes()));
  EXPECT_FALSE((*buffer)->commit(device->chunk_bytes(), 2 * device->chunk_bytes()));
}

}  // namespace
}  // namespace cupola::hal
