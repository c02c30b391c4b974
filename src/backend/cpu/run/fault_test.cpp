#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "backend/cpu/run/device_fixture.h"
#include "base/format.h"

// What goes wrong in kernels. Oracle: the documented meaning of the CUDA error codes ("Data types used by CUDA
// Runtime"), and the place that the test itself chose.

namespace cupola::cpu {
namespace {

using Faults = DeviceFixture;
using Counter = std::atomic<uint32_t>;

/// Waits until the queue has nothing left, fault or not.
void drain(const hal::Queue& queue, uint64_t last) {
  while (queue.progress()->value() < last) std::this_thread::yield();
}

struct At {
  volatile uint32_t* address;
  uint32_t block, thread;
};

bool chosen(const ThreadContext* c, const At& at) {
  return linear_block(c) == at.block && linear_thread(c) == at.thread;
}

void store_at(ThreadContext* c, const std::byte* block) {
  const At& at = parameters_of<At>(block);
  if (chosen(c, at)) *at.address = 1;
}
// Instrumented, it would fault at the address's shadow.
__attribute__((no_sanitize("address", "undefined"))) void load_at(ThreadContext* c, const std::byte* block) {
  const At& at = parameters_of<At>(block);
  if (chosen(c, at)) *const_cast<uint32_t*>(&at.block) = *at.address;
}

void count_up(ThreadContext*, const std::byte* block) {
  (*parameters_of<Counter*>(block))++;
}

volatile uint32_t* bad(uint64_t address) {
  return reinterpret_cast<uint32_t*>(address);
}

void expect_fault(const Result<>& result, ErrorCode code, const std::string& message) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, code);
  EXPECT_EQ(result.error().message, message);
}

// On the thread that launches it.
TEST_F(Faults, AShortGridsFaultIsTheDomains) {
  launch(store_at, {{2}, {4}}, At{bad(0x10), 1, 2}, {.rung = image::Rung::ThreadLoop, .most_instructions = 10});
  EXPECT_EQ(queue_->progress()->value(), last_);
  expect_fault(synchronize(), ErrorCode::IllegalAddress,
               "kernel native, block (1,0,0), thread (2,0,0): illegal memory access at 0x10 (write)");
}

TEST_F(Faults, ANullStoreNamesKernelBlockThreadAndAddress) {
  launch(store_at, {{3}, {4, 4}}, At{bad(0x10), 1, 9});
  expect_fault(synchronize(), ErrorCode::IllegalAddress,
               "kernel native, block (1,0,0), thread (1,2,0): illegal memory access at 0x10 (write)");
}

TEST_F(Faults, ALoadFromUnmappedMemoryInALoop) {
  launch(load_at, {{3}, {64}}, At{bad(0x7000000000), 2, 40}, {.rung = image::Rung::ThreadLoop});
  expect_fault(synchronize(), ErrorCode::IllegalAddress,
               "kernel native, block (2,0,0), thread (40,0,0): illegal memory access at 0x7000000000 (read)");
}

#if defined(__linux__) && defined(__x86_64__)
// The processor does not say at which: bits 48 to 63 of an address are those of bit 47 ("AMD64 Architecture
// Programmer's Manual, Volume 2", canonical addresses).
TEST_F(Faults, AnAddressThatNoMemoryCanHaveIsNotCalledZero) {
  launch(store_at, {{1}, {4}}, At{bad(uint64_t{1} << 56), 0, 2});
  expect_fault(synchronize(), ErrorCode::IllegalAddress,
               "kernel native, block (0,0,0), thread (2,0,0): illegal memory access far outside of all memory");
}
#endif

/// As generated code does: block after block, each its warps.
template <void (*warp)(ThreadContext*, const std::byte*)>
void run_blocks(ThreadContext* c, const std::byte* block) {
  for (;;) {
    for (c->warp = 0; 32 * c->warp < c->ntid[0]; ++c->warp) warp(c, block);
    if (c->blocks == 1) return;
    --c->blocks;
    for (int d = 0; d < 3; ++d) {
      if (++c->ctaid[d] < c->nctaid[d]) break;
      c->ctaid[d] = 0;
    }
  }
}

void store_in_warp(ThreadContext* c, const std::byte* block) {
  const At& at = parameters_of<At>(block);
  if (linear_block(c) == at.block && c->warp == at.thread / 32) *at.address = 1;
}

TEST_F(Faults, NameTheBlockAmongThoseThatRunInOneCall) {
  for (const uint32_t block : {0u, 5u, 15u, 16u, 43u, 59u}) {
    launch(run_blocks<store_in_warp>, {{4, 5, 3}, {96}}, At{bad(0x10), block, 70}, {.width = 32, .whole_block = true});
    expect_fault(synchronize(), ErrorCode::IllegalAddress,
                 formatted("kernel native, block ({},{},{}), one of the 32 threads from (64,0,0): illegal memory "
                           "access at 0x10 (write); CUPOLA_RUNG=threads names the thread",
                           block % 4, block / 4 % 5, block / 20));
    device_->clear_fault();
  }
}

void count_warp(ThreadContext* c, const std::byte* block) {
  parameters_of<Counter*>(block)[linear_block(c)]++;
}

TEST_F(Faults, EachOfManyBlocksRunsOnce) {
  constexpr Dim3 kGrid{7, 11, 13};
  std::vector<Counter> counts(kGrid.count());
  launch(run_blocks<count_warp>, {kGrid, {64}}, counts.data(), {.width = 32, .whole_block = true});
  expect_success();
  for (const Counter& count : counts) EXPECT_EQ(count.load(), 2u);
}

TEST_F(Faults, StickAndDropWhatFollowsUntilCleared) {
  launch(store_at, {{1}, {32}}, At{bad(8), 0, 0});
  ASSERT_FALSE(synchronize());
  Counter count{0};
  for (int i = 0; i < 10; ++i) launch(count_up, {{4}, {4}}, &count);
  EXPECT_FALSE(synchronize());
  drain(*queue_, 11);
  EXPECT_EQ(count.load(), 0u);
  ASSERT_TRUE(device_->fault());
  EXPECT_EQ(device_->fault()->code, ErrorCode::IllegalAddress);

  device_->clear_fault();
  EXPECT_FALSE(device_->fault());
  launch(count_up, {{4}, {4}}, &count);
  expect_success();
  EXPECT_EQ(count.load(), 16u);
}

TEST_F(Faults, EndGridsOfOtherQueuesThatPoll) {
  auto other = device_->create_queue(0).value();
  other->submit(make_launch(
      [](ThreadContext* c, const std::byte*) {
        for (;;) c->services->poll(c);
      },
      {{8}, {8}}, 0, {.polls = true}));
  launch(store_at, {{1}, {1}}, At{bad(8), 0, 0});
  EXPECT_FALSE(synchronize());
  EXPECT_FALSE(other->progress()->wait(1));
}

TEST_F(Faults, FreeQueuesThatWaitForSemaphores) {
  auto other = device_->create_queue(0).value();
  const auto never = device_->create_semaphore(0);
  other->submit(hal::Wait{never, 1});
  launch(store_at, {{1}, {1}}, At{bad(8), 0, 0});
  EXPECT_FALSE(synchronize());
  EXPECT_FALSE(other->progress()->wait(1));
  EXPECT_FALSE(never->wait(1));
  for (int i = 0; i < 1000 && other->progress()->value() < 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(other->progress()->value(), 1u);
}

// Under a thread sanitiser: a queue is told of faults from the moment on that others may hold it.
TEST_F(Faults, QueuesAreCreatedWhileOthersFault) {
  std::atomic<bool> stop{false};
  std::thread creator([&] {
    while (!stop.load()) device_->create_queue(0).value();
  });
  for (int i = 0; i < 200; ++i) {
    launch(store_at, {{1}, {1}}, At{bad(8), 0, 0});
    EXPECT_FALSE(synchronize());
    drain(*queue_, last_);
    device_->clear_fault();
  }
  stop.store(true);
  creator.join();
}

void trap_at(ThreadContext* c, const std::byte* block) {
  if (chosen(c, parameters_of<At>(block))) c->services->trap(c);
  c->services->barrier(c, 0, 0, 1);
}

TEST_F(Faults, ATrapIsALaunchFailure) {
  launch(trap_at, {{2}, {32}}, At{nullptr, 1, 31});
  expect_fault(synchronize(), ErrorCode::LaunchFailed, "kernel native, block (1,0,0), thread (31,0,0): trap");
}

void assert_at(ThreadContext* c, const std::byte* block) {
  if (chosen(c, parameters_of<At>(block))) c->services->assert_fail(c, "x < 3", "a.cu", 12, "void f(int)");
}

TEST_F(Faults, AnAssertionPrintsCudasWords) {
  testing::internal::CaptureStderr();
  launch(assert_at, {{2, 2}, {8, 2}}, At{nullptr, 3, 9});
  const Result<> result = synchronize();
  const std::string printed = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Assert);
  EXPECT_NE(printed.find("a.cu:12: void f(int): block: [1,1,0], thread: [1,1,0] Assertion `x < 3` failed.\n"),
            std::string::npos)
      << printed;
}

__attribute__((noinline)) uint32_t recurse(uint32_t depth) {
  volatile uint32_t frame[64] = {};
  frame[depth % 64] = depth;
  if (depth == 0xFFFFFFFF) return 0;
  return recurse(depth + 1) + frame[(depth + 1) % 64];
}

void endless_recursion(ThreadContext*, const std::byte* block) {
  *parameters_of<At>(block).address = recurse(0);
}

TEST_F(Faults, EndlessRecursionIsAStackError) {
  uint32_t sink = 0;
  launch(endless_recursion, {{1}, {2}}, At{&sink, 0, 0});
  const Result<> result = synchronize();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::HardwareStackError) << result.error().message;
}

TEST_F(Faults, BadPointersInPrintfAndFreeAreTheKernels) {
  launch(
      [](ThreadContext* c, const std::byte*) { c->services->vprintf(c, reinterpret_cast<const char*>(0x20), nullptr); },
      {{1}, {1}}, 0);
  expect_fault(synchronize(), ErrorCode::IllegalAddress,
               "kernel native, block (0,0,0), thread (0,0,0): illegal memory access at 0x20 (read)");
  drain(*queue_, last_);
  device_->clear_fault();
  launch([](ThreadContext* c, const std::byte*) { c->services->free(c, c); }, {{1}, {1}}, 0);
  EXPECT_EQ(synchronize().error().code, ErrorCode::IllegalAddress);
}

TEST_F(Faults, ACopyFromNowhereFaults) {
  uint32_t to = 0;
  last_ = queue_->submit(hal::Copy{.destination = reinterpret_cast<uint64_t>(&to), .source = 0x40, .width = 4});
  const Result<> result = synchronize();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::IllegalAddress);
  EXPECT_NE(result.error().message.find("copy of 4 bytes from 0x40"), std::string::npos) << result.error().message;
}

TEST_F(Faults, ThousandsInARowLeaveTheDeviceUsable) {
  for (int i = 0; i < 2000; ++i) {
    launch(store_at, {{4}, {64}}, At{bad(8), static_cast<uint32_t>(i % 4), static_cast<uint32_t>(i % 64)});
    ASSERT_FALSE(synchronize());
    drain(*queue_, last_);
    device_->clear_fault();
  }
  Counter count{0};
  launch(count_up, {{4}, {4}}, &count);
  expect_success();
  EXPECT_EQ(count.load(), 16u);
}

void heap_round_trip(ThreadContext* c, const std::byte* block) {
  auto* memory = static_cast<uint32_t*>(c->services->malloc(c, 64));
  if (!memory || reinterpret_cast<uint64_t>(memory) % 16) return;
  for (int i = 0; i < 16; ++i) memory[i] = c->tid[0];
  c->services->barrier(c, 0, 0, 1);
  bool same = true;
  for (int i = 0; i < 16; ++i) same &= memory[i] == c->tid[0];
  c->services->free(c, memory);
  if (same) (*parameters_of<Counter*>(block))++;
}

TEST_F(Faults, DeviceMallocGivesEachThreadItsOwn) {
  Counter good{0};
  launch(heap_round_trip, {{8}, {128}}, &good);
  expect_success();
  EXPECT_EQ(good.load(), 8u * 128);
}

}  // namespace
}  // namespace cupola::cpu
