#include <atomic>
#include <chrono>
#include <thread>

#include "hal/cts/test_case.h"
#include "hal/cts/test_kernels.h"

// Oracle: test_kernels.h says what each kernel computes; the loops below compute the same.

namespace cupola::hal::cts {
namespace {

std::vector<uint32_t> read_words(TestCase& t, const Buffer& buffer, size_t count) {
  std::vector<uint32_t> result(count);
  t.run(Copy{.destination = address_of(result.data()), .source = buffer.address(), .width = count * 4});
  return result;
}

uint32_t* words(const Buffer& buffer) {
  return reinterpret_cast<uint32_t*>(buffer.address());
}

void every_thread_runs_once(TestCase& t) {
  for (const auto& [grid, block] : {std::pair{Dim3{1}, Dim3{1}}, std::pair{Dim3{100}, Dim3{256}},
                                    std::pair{Dim3{3, 4, 5}, Dim3{7, 3, 2}}, std::pair{Dim3{8000}, Dim3{32}}}) {
    const uint64_t count = grid.count() * block.count();
    auto buffer = t.make_buffer(count * 4);
    t.run(t.make_launch("write_index", grid, block, WriteIndexParameters{words(*buffer), 1000}));
    const auto values = read_words(t, *buffer, count);
    for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(values[i], 1000 + i);
  }
}

void barriers_and_shared_memory(TestCase& t) {
  auto buffer = t.make_buffer(300 * 4);
  t.run(t.make_launch("block_sum", {300}, {128}, BlockSumParameters{words(*buffer), 5}));
  for (const uint32_t sum : read_words(t, *buffer, 300)) ASSERT_EQ(sum, 128u * 127 / 2 + 5 * 128);
}

void launches_and_copies_keep_their_order(TestCase& t) {
  auto buffer = t.make_buffer(64 * 4);
  std::vector<uint32_t> values(200);
  for (uint32_t i = 0; i < 200; ++i) {
    t.queue->submit(t.make_launch("write_index", {2}, {32}, WriteIndexParameters{words(*buffer), i * 100}));
    t.queue->submit(Copy{.destination = address_of(&values[i]), .source = buffer->address() + 63 * 4, .width = 4});
  }
  t.expect_done(*t.queue, 400);
  for (uint32_t i = 0; i < 200; ++i) EXPECT_EQ(values[i], i * 100 + 63);
}

void a_kernel_sees_the_host_and_another_queue(TestCase& t) {
  auto buffer = t.make_buffer(8);
  auto other = t.device->create_queue(0).value();
  t.run(Fill{.destination = buffer->address(), .value_bytes = 4, .width = 2});
  const WaitForFlagParameters parameters{words(*buffer), words(*buffer) + 1};
  const uint64_t last = t.queue->submit(t.make_launch("wait_for_flag", {2}, {64}, parameters));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LT(t.queue->progress()->value(), last);
  other->submit(Fill{.destination = buffer->address(), .value = 3, .value_bytes = 4, .width = 1});
  t.expect_done(*t.queue, last);
  EXPECT_EQ(read_words(t, *buffer, 2)[1], 2u * 64 * 3);
}

void launches_of_many_queues(TestCase& t) {
  std::vector<std::unique_ptr<Queue>> queues;
  auto buffer = t.make_buffer(16 * 1024 * 4);
  for (uint32_t q = 0; q < 16; ++q) {
    queues.push_back(t.device->create_queue(0).value());
    for (uint32_t i = 0; i < 20; ++i)
      queues[q]->submit(
          t.make_launch("write_index", {16}, {64}, WriteIndexParameters{words(*buffer) + q * 1024, q + i}));
  }
  for (const auto& queue : queues) t.expect_done(*queue, 20);
  const auto values = read_words(t, *buffer, 16 * 1024);
  for (uint32_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i / 1024 + 19 + i % 1024);
}

void an_executable_lives_until_its_last_launch(TestCase& t) {
  auto buffer = t.make_buffer(4096);
  auto gate = t.device->create_semaphore(0);
  t.queue->submit(Wait{gate, 1});
  for (int i = 0; i < 50; ++i)
    t.queue->submit(t.make_launch("write_index", {8}, {64}, WriteIndexParameters{words(*buffer), 6}));
  const std::weak_ptr<Executable> watched = t.kernels();
  t.drop_kernels();
  EXPECT_FALSE(watched.expired());
  gate->signal(1);
  t.expect_done(*t.queue, 51);
  EXPECT_EQ(read_words(t, *buffer, 512)[511], 6u + 511);
  // The device lets the last launch go soon after it is done.
  for (int i = 0; i < 5000 && !watched.expired(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(watched.expired());
}

void occupancy_follows_the_limits(TestCase& t) {
  const DeviceProperties& limits = t.device->properties();
  const uint32_t kernel = t.kernels()->find_kernel("block_sum").value();
  const auto occupancy = [&](uint32_t threads, uint32_t shared) {
    return t.device->occupancy(*t.kernels(), kernel, threads, shared);
  };
  EXPECT_GT(occupancy(32, 0), 0u);
  EXPECT_GT(occupancy(limits.max_threads_per_block, 0), 0u);
  EXPECT_GE(occupancy(32, 0), occupancy(limits.max_threads_per_block, 0));
  EXPECT_EQ(occupancy(limits.max_threads_per_block + 1, 0), 0u);
  EXPECT_EQ(occupancy(32, limits.shared_bytes_per_block_optin), 0u);  // the kernel has 512 static bytes already
  const uint32_t most =
      limits.dynamic_shared_beside(t.kernels()->kernels()[kernel], limits.shared_bytes_per_block_optin);
  EXPECT_GT(occupancy(32, most), 0u);
  EXPECT_EQ(occupancy(32, most + 1), 0u);
  EXPECT_LE(occupancy(32, 0), limits.max_blocks_per_multiprocessor);
  EXPECT_LE(occupancy(512, 0) * 512, limits.max_threads_per_multiprocessor);
}

void a_fault_sticks_and_drains(TestCase& t) {
  auto gate = t.device->create_semaphore(0);
  std::atomic<int> calls{0};
  uint32_t untouched = 5;
  t.queue->submit(t.make_launch("bad_store", {4}, {32}, BadStoreParameters{}));
  t.queue->submit(Fill{.destination = address_of(&untouched), .value = 1, .value_bytes = 4, .width = 1});
  t.queue->submit(HostCall{[&] { ++calls; }});
  const auto time = std::make_shared<std::atomic<uint64_t>>(0);
  t.queue->submit(Timestamp{time});
  const uint64_t last = t.queue->submit(Signal{gate, 1});
  const Result<> result = t.queue->progress()->wait(last);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::IllegalAddress);
  ASSERT_TRUE(t.device->fault());
  EXPECT_EQ(t.device->fault()->code, ErrorCode::IllegalAddress);
  while (t.queue->progress()->value() < last) std::this_thread::yield();
  EXPECT_EQ(gate->value(), 1u);
  EXPECT_NE(time->load(), 0u);
  EXPECT_EQ(untouched, 5u);
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(t.queue->progress()->wait(1));
}

void callbacks_hear_of_a_fault(TestCase& t) {
  auto gate = t.device->create_semaphore(0);
  std::vector<ErrorCode> heard;
  const auto note = [&](const Error* error) { heard.push_back(error ? error->code : ErrorCode{0}); };
  t.queue->submit(Callback{note});
  t.queue->submit(Wait{gate, 1});
  t.queue->submit(t.make_launch("bad_store", {4}, {32}, BadStoreParameters{}));
  t.queue->submit(Callback{note});  // in the queue before the fault
  gate->signal(1);
  EXPECT_FALSE(t.queue->progress()->wait(4));
  const uint64_t last = t.queue->submit(Callback{note});  // and after it
  while (t.queue->progress()->value() < last) std::this_thread::yield();
  EXPECT_EQ(heard, (std::vector{ErrorCode{0}, ErrorCode::IllegalAddress, ErrorCode::IllegalAddress}));
}

void a_fault_stays_in_its_domain(TestCase& t) {
  auto buffer = t.make_buffer(4096);
  const auto broken = t.device->create_domain(), whole = t.device->create_domain();
  auto bad = t.device->create_queue(0, broken).value();
  auto good = t.device->create_queue(0, whole).value();
  auto gate = t.device->create_semaphore(0);
  // In flight, and waiting for the domain that breaks, while that breaks.
  good->submit(Wait{gate, 1});
  const uint64_t last = bad->submit(t.make_launch("bad_store", {4}, {32}, BadStoreParameters{}));
  good->submit(Wait{bad->progress(), last});
  const uint64_t done = good->submit(t.make_launch("write_index", {2}, {64}, WriteIndexParameters{words(*buffer), 7}));
  EXPECT_FALSE(bad->progress()->wait(last));
  ASSERT_TRUE(broken->fault());
  EXPECT_EQ(broken->fault()->code, ErrorCode::IllegalAddress);
  EXPECT_FALSE(whole->fault());
  EXPECT_FALSE(t.device->fault());
  gate->signal(1);
  TestCase::expect_done(*good, done);
  EXPECT_EQ(read_words(t, *buffer, 128)[127], 7u + 127);
  whole->clear_fault();
  EXPECT_TRUE(broken->fault());
}

void a_cleared_fault_leaves_the_device_usable(TestCase& t) {
  auto buffer = t.make_buffer(4096);
  for (int round = 0; round < 20; ++round) {
    const uint64_t last = t.queue->submit(t.make_launch("bad_store", {4}, {32}, BadStoreParameters{}));
    EXPECT_FALSE(t.queue->progress()->wait(last));
    while (t.queue->progress()->value() < last) std::this_thread::yield();
    t.device->clear_fault();
    EXPECT_FALSE(t.device->fault());
  }
  t.run(t.make_launch("write_index", {2}, {64}, WriteIndexParameters{words(*buffer), 9}));
  EXPECT_EQ(read_words(t, *buffer, 128)[127], 9u + 127);
}

void a_queue_may_go_while_it_launches(TestCase& t) {
  constexpr uint32_t kRounds = 20, kThreads = 100 * 128;
  auto buffer = t.make_buffer(kRounds * kThreads * 4);
  std::vector<std::shared_ptr<Semaphore>> done;
  for (uint32_t round = 0; round < kRounds; ++round) {
    auto queue = t.device->create_queue(0).value();
    const WriteIndexParameters parameters{words(*buffer) + round * kThreads, round};
    for (int i = 0; i < 5; ++i) queue->submit(t.make_launch("write_index", {100}, {128}, parameters));
    done.push_back(t.device->create_semaphore(0));
    queue->submit(Signal{done.back(), 1});
  }
  for (const auto& semaphore : done) EXPECT_TRUE(semaphore->wait(1));
  const auto values = read_words(t, *buffer, kRounds * kThreads);
  for (uint32_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i / kThreads + i % kThreads);
}

}  // namespace

std::vector<Test> launch_tests() {
  return {
      {"Launch", "EveryThreadRunsOnce", true, every_thread_runs_once},
      {"Launch", "BarriersAndSharedMemory", true, barriers_and_shared_memory},
      {"Launch", "LaunchesAndCopiesKeepTheirOrder", true, launches_and_copies_keep_their_order},
      {"Launch", "AKernelSeesTheHostAndAnotherQueue", true, a_kernel_sees_the_host_and_another_queue},
      {"Launch", "LaunchesOfManyQueues", true, launches_of_many_queues},
      {"Launch", "AnExecutableLivesUntilItsLastLaunch", true, an_executable_lives_until_its_last_launch},
      {"Launch", "OccupancyFollowsTheLimits", true, occupancy_follows_the_limits},
      {"Launch", "AFaultSticksAndDrains", true, a_fault_sticks_and_drains},
      {"Launch", "CallbacksHearOfAFault", true, callbacks_hear_of_a_fault},
      {"Launch", "AFaultStaysInItsDomain", true, a_fault_stays_in_its_domain},
      {"Launch", "AClearedFaultLeavesTheDeviceUsable", true, a_cleared_fault_leaves_the_device_usable},
      {"Launch", "AQueueMayGoWhileItLaunches", true, a_queue_may_go_while_it_launches},
  };
}

}  // namespace cupola::hal::cts
