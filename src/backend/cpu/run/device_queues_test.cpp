#include "backend/cpu/run/device_queues.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

#include "backend/cpu/run/device_fixture.h"

// Native kernels that launch others. What CUDA programs see of it is in tests/kernels/dynamic_parallelism.cu.

namespace cupola::cpu {
namespace {

using image::DeviceCall;
using image::DeviceError;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr auto kBlock = static_cast<uint64_t>(image::DeviceStream::Block);
constexpr auto kTail = static_cast<uint64_t>(image::DeviceStream::TailLaunch);
constexpr auto kFree = static_cast<uint64_t>(image::DeviceStream::FireAndForget);

struct Shared {
  std::shared_ptr<NativeExecutable> executable = std::make_shared<NativeExecutable>();
  std::atomic<uint32_t> count{0};
  std::vector<uint32_t> list;     ///< by kernels that are in order
  std::vector<uint32_t> answers;  ///< likewise
  std::shared_ptr<hal::Domain> domain;
};

struct Parameters {
  Shared* shared;
  uint32_t value;
};

DeviceError call(ThreadContext* c, DeviceCall kind, void* operands) {
  return static_cast<DeviceError>(c->services->device_call(c, static_cast<uint32_t>(kind), operands));
}

DeviceError start(ThreadContext* c, uint32_t kernel, Parameters parameters, uint64_t stream, unsigned threads = 1) {
  image::DeviceLaunch operands{
      parameters.shared->executable->address(kernel), &parameters, {{1, 1, 1}, {threads, 1, 1}, 0}, stream};
  return call(c, DeviceCall::Launch, &operands);
}

enum Kernel : uint32_t { kCount, kAppend, kTree, kFault, kFirst };

void count(ThreadContext*, const std::byte* block) {
  parameters_of<Parameters>(block).shared->count.fetch_add(1);
}

void append(ThreadContext*, const std::byte* block) {
  const auto& p = parameters_of<Parameters>(block);
  p.shared->list.push_back(p.value);
}

void grow(ThreadContext* c, const std::byte* block) {
  auto p = parameters_of<Parameters>(block);
  p.shared->count.fetch_add(1);
  if (p.value-- == 0) return;
  start(c, kTree, p, kBlock);
  start(c, kTree, p, kFree);
}

void fault(ThreadContext*, const std::byte*) {
  *reinterpret_cast<volatile int*>(8) = 1;
}

class DeviceQueuesTest : public DeviceFixture {
 protected:
  DeviceQueuesTest() {
    const KernelCode loop{.entry = nullptr, .rung = image::Rung::ThreadLoop};
    for (const auto entry : {&count, &append, &grow, &fault})
      shared_.executable->add("kernel", entry, loop, 0, sizeof(Parameters));
  }

  /// Runs a kernel of one thread.
  void run(KernelEntry first, uint32_t value = 0) {
    shared_.executable->add("first", first, {}, 0, sizeof(Parameters));
    last_ = queue_->submit(make(kFirst, value));
  }

  hal::Launch make(uint32_t kernel, uint32_t value) {
    const Parameters parameters{&shared_, value};
    hal::Launch launch;
    launch.executable = shared_.executable;
    launch.kernel = kernel;
    launch.parameters.resize(sizeof parameters);
    std::memcpy(launch.parameters.data(), &parameters, sizeof parameters);
    return launch;
  }

  Shared shared_;
};

TEST_F(DeviceQueuesTest, AGridIsOverWhenItsTreeIs) {
  for (int turn = 0; turn < 20; ++turn) {
    shared_.count = 0;
    last_ = queue_->submit(make(kTree, 7));
    expect_success();
    ASSERT_EQ(shared_.count, 255u) << turn;
  }
}

TEST_F(DeviceQueuesTest, TailLaunchesComeLastAndInOrder) {
  run([](ThreadContext* c, const std::byte* block) {
    const auto p = parameters_of<Parameters>(block);
    for (uint32_t i = 0; i < 3; ++i) start(c, kAppend, {p.shared, 10 + i}, kTail);
    for (uint32_t i = 0; i < 3; ++i) start(c, kAppend, {p.shared, i}, kBlock);
  });
  expect_success();
  EXPECT_THAT(shared_.list, ElementsAre(0, 1, 2, 10, 11, 12));
}

TEST_F(DeviceQueuesTest, EventsOrderStreams) {
  run([](ThreadContext* c, const std::byte* block) {
    const auto p = parameters_of<Parameters>(block);
    image::DeviceHandle streams[2] = {}, event{};
    for (auto& stream : streams) call(c, DeviceCall::CreateStream, &stream);
    call(c, DeviceCall::CreateEvent, &event);
    for (uint32_t i = 0; i < 100; ++i) {
      image::DeviceEventUse record{event.handle, streams[i % 2].handle}, wait{event.handle, streams[1 - i % 2].handle};
      start(c, kAppend, {p.shared, i}, record.stream);
      call(c, DeviceCall::RecordEvent, &record);
      call(c, DeviceCall::WaitForEvent, &wait);
    }
    call(c, DeviceCall::DestroyEvent, &event);
    for (auto& stream : streams) call(c, DeviceCall::DestroyStream, &stream);
  });
  expect_success();
  ASSERT_EQ(shared_.list.size(), 100u);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(shared_.list[i], i);
}

TEST_F(DeviceQueuesTest, HandlesThatAreNoneAreRefused) {
  run([](ThreadContext* c, const std::byte* block) {
    const auto p = parameters_of<Parameters>(block);
    const auto note = [&](DeviceError error) { p.shared->answers.push_back(static_cast<uint32_t>(error)); };
    image::DeviceHandle stream{}, event{};
    call(c, DeviceCall::CreateStream, &stream);
    call(c, DeviceCall::CreateEvent, &event);
    image::DeviceEventUse swapped{stream.handle, event.handle}, without_event{1, stream.handle};
    note(start(c, kCount, p, 1));
    note(start(c, kCount, p, event.handle));
    note(call(c, DeviceCall::RecordEvent, &swapped));
    note(call(c, DeviceCall::WaitForEvent, &without_event));
    note(call(c, DeviceCall::DestroyEvent, &stream));
    call(c, DeviceCall::DestroyStream, &stream);
    note(call(c, DeviceCall::DestroyStream, &stream));
    note(start(c, kCount, p, stream.handle));
  });
  expect_success();
  EXPECT_EQ(shared_.answers.size(), 7u);
  EXPECT_THAT(shared_.answers, Each(static_cast<uint32_t>(DeviceError::InvalidHandle)));
  EXPECT_EQ(shared_.count, 0u);
}

TEST_F(DeviceQueuesTest, WhatIsNoKernelIsRefused) {
  run([](ThreadContext* c, const std::byte* block) {
    const auto p = parameters_of<Parameters>(block);
    const auto* address = static_cast<const char*>(p.shared->executable->address(0));
    for (const void* wrong : {static_cast<const void*>(nullptr), static_cast<const void*>(address + 8),
                              static_cast<const void*>(address + 16 * 100), static_cast<const void*>(block)}) {
      image::DeviceLaunch operands{wrong, block, {{1, 1, 1}, {1, 1, 1}, 0}, kBlock};
      p.shared->answers.push_back(static_cast<uint32_t>(call(c, DeviceCall::Launch, &operands)));
    }
  });
  expect_success();
  EXPECT_EQ(shared_.answers.size(), 4u);
  EXPECT_THAT(shared_.answers, Each(static_cast<uint32_t>(DeviceError::InvalidKernel)));
}

/// A refused launch keeps no slot, and one that has begun gives its slot back.
TEST_F(DeviceQueuesTest, LaunchesThatWaitHaveSlots) {
  shared_.domain = device_->create_domain();
  shared_.domain->limit_pending_launches(5);
  queue_ = device_->create_queue(0, shared_.domain).value();
  shared_.executable->add(
      "first",
      [](ThreadContext* c, const std::byte* block) {
        const auto p = parameters_of<Parameters>(block);
        start(c, kCount, p, kTail, 2000);  // too large
        start(c, kCount, p, 1);            // no stream
        for (int i = 0; i < 7; ++i) p.shared->answers.push_back(static_cast<uint32_t>(start(c, kCount, p, kTail)));
      },
      {}, 0, sizeof(Parameters));
  for (int turn = 0; turn < 3; ++turn) {
    shared_.answers.clear();
    last_ = queue_->submit(make(kFirst, 0));
    expect_success();
    EXPECT_THAT(shared_.answers, ElementsAre(0, 0, 0, 0, 0, 69, 69));
  }
  EXPECT_EQ(shared_.count, 15u);
  queue_.reset();
}

/// The fault drops what waits, tail launches too, and all of it is counted: the queue drains.
TEST_F(DeviceQueuesTest, AFaultOfAChildDropsTheRest) {
  run([](ThreadContext* c, const std::byte* block) {
    const auto p = parameters_of<Parameters>(block);
    start(c, kAppend, p, kTail);
    start(c, kFault, p, kBlock);
    for (int i = 0; i < 50; ++i) start(c, kAppend, p, kBlock);
  });
  const Result<> result = synchronize();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::IllegalAddress);
  while (queue_->progress()->value() < last_) std::this_thread::yield();
  EXPECT_TRUE(shared_.list.empty());
  device_->clear_fault();
  last_ = queue_->submit(make(kTree, 3));
  expect_success();
  EXPECT_EQ(shared_.count, 15u);
}

}  // namespace
}  // namespace cupola::cpu
