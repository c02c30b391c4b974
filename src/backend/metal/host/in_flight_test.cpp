#include <dlfcn.h>

#include <chrono>
#include <functional>
#include <thread>

#include "backend/metal/host/device_fixture.h"
#include "backend/metal/host/launcher.h"

// Several command buffers of a queue at a time. Oracle: what the double counts, and what the kernels leave, in their
// order.

namespace cupola::metal {
namespace {

class InFlight : public DeviceFixture {
 protected:
  /// A function of the double.
  template <typename Function>
  static Function* of_double(const char* name) {
    return reinterpret_cast<Function*>(dlsym(dlopen(CUPOLA_SOFTWARE_METAL, RTLD_NOW | RTLD_LOCAL), name));
  }
  static long in_flight() { return of_double<long()>("software_metal_in_flight")(); }
  static void hold(bool on) { of_double<void(long)>("software_metal_hold")(on); }
  static bool comes_true(const std::function<bool()>& what) {
    for (int i = 0; i < 2000 && !what(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return what();
  }

  static image::MetalImage safe(image::MetalImage image) {
    image.kernels[0].may_fail = false;
    return image;
  }
  /// Appends its number to a list: parameters are the list's address and the number.
  image::MetalImage appends() const {
    return image_of(R"(
      device ulong* list = (device ulong*)(*(constant ulong*)parameters + launch.arena);
      list[++list[0]] = ((constant ulong*)parameters)[1];)",
                    16);
  }
  struct Append {
    uint64_t list, number;
  };
  std::vector<hal::Command> launches(const image::MetalImage& image, uint64_t list, uint64_t count) {
    std::vector<hal::Command> commands;
    hal::Launch launch = launch_of(image, Append{list, 0});
    for (uint64_t i = 1; i <= count; ++i) {
      reinterpret_cast<Append*>(launch.parameters.data())->number = i;
      commands.emplace_back(launch);
    }
    return commands;
  }
  static std::vector<uint64_t> listed(const hal::Buffer& buffer) {
    const auto* const list = reinterpret_cast<const uint64_t*>(buffer.address());
    return {list + 1, list + 1 + list[0]};
  }
};

TEST_F(InFlight, LaunchesInARowAreCommittedAheadAndRunInTheirOrder) {
  auto buffer = make_buffer(4096);
  std::vector<hal::Command> commands = launches(safe(appends()), buffer->address(), 20);
  hold(true);
  const uint64_t last = queue->enqueue(commands);
  queue->start();
  EXPECT_TRUE(comes_true([] { return in_flight() == long{Launcher::kMostInFlight}; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for more, if there were any
  EXPECT_EQ(in_flight(), long{Launcher::kMostInFlight});
  EXPECT_EQ(queue->progress()->value(), 0u);
  hold(false);
  ASSERT_TRUE(queue->progress()->wait(last));
  std::vector<uint64_t> expected;
  for (uint64_t i = 1; i <= 20; ++i) expected.push_back(i);
  EXPECT_EQ(listed(*buffer), expected);
}

/// Each that is in flight has room for its output; without memory for one more a launch waits, as it would alone.
TEST_F(InFlight, LaunchesWaitWhereMemoryIsShort) {
  auto buffer = make_buffer(4096);
  std::vector<hal::Command> commands = launches(safe(appends()), buffer->address(), 20);
  std::vector<std::unique_ptr<hal::Buffer>> rest;
  for (uint64_t bytes = device->properties().memory_bytes; bytes >= device->chunk_bytes(); bytes /= 2)
    while (auto taken = device->reserve(bytes)) rest.push_back(std::move(*taken));
  hold(true);
  const uint64_t last = queue->enqueue(commands);
  queue->start();
  EXPECT_TRUE(comes_true([] { return in_flight() > 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for all that have room
  EXPECT_LT(in_flight(), long{Launcher::kMostInFlight});
  hold(false);
  const Result<> waited = queue->progress()->wait(last);
  ASSERT_TRUE(waited) << waited.error().message;
  EXPECT_EQ(listed(*buffer).size(), 20u);
}

TEST_F(InFlight, NothingElseOvertakesThem) {
  auto buffer = make_buffer(4096);
  auto seen = std::make_shared<std::vector<uint64_t>>();
  std::vector<hal::Command> commands = launches(safe(appends()), buffer->address(), 3);
  const auto time = std::make_shared<std::atomic<uint64_t>>();
  commands.emplace_back(hal::HostCall{[&, seen] { *seen = listed(*buffer); }});
  commands.emplace_back(hal::Timestamp{time});
  hold(true);
  const uint64_t last = queue->enqueue(commands);
  queue->start();
  EXPECT_TRUE(comes_true([] { return in_flight() == 3; }));
  EXPECT_TRUE(seen->empty());
  EXPECT_EQ(*time, 0u);
  hold(false);
  ASSERT_TRUE(queue->progress()->wait(last));
  EXPECT_EQ(*seen, (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_NE(*time, 0u);
}

TEST_F(InFlight, WhatFollowsAKernelThatMayFailWaitsForIt) {
  auto buffer = make_buffer(4096);
  const image::MetalImage fails = image_of("*(device uint*)launch.faults = 1;");
  std::vector<hal::Command> commands = launches(safe(appends()), buffer->address(), 2);
  commands.emplace_back(launch_of(fails, uint64_t{0}));
  for (hal::Command& after : launches(safe(appends()), buffer->address(), 2)) commands.push_back(std::move(after));
  hold(true);
  const uint64_t last = queue->enqueue(commands);
  queue->start();
  EXPECT_TRUE(comes_true([] { return in_flight() == 3; }));
  hold(false);
  const Result<> result = queue->progress()->wait(last);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::LaunchFailed) << result.error().message;
  EXPECT_TRUE(comes_true([&] { return queue->progress()->value() == last; }));
  EXPECT_EQ(listed(*buffer), (std::vector<uint64_t>{1, 2}));
}

TEST_F(InFlight, ALaunchThatMayNotBeFailsBehindThoseBeforeIt) {
  auto buffer = make_buffer(4096);
  std::vector<hal::Command> commands = launches(safe(appends()), buffer->address(), 3);
  std::get<hal::Launch>(commands[2]).block = {1025};
  hold(true);
  queue->enqueue(commands);
  queue->start();
  EXPECT_TRUE(comes_true([] { return in_flight() == 2; }));
  EXPECT_FALSE(device->fault());
  hold(false);
  EXPECT_FALSE(queue->progress()->wait(3));
  EXPECT_EQ(listed(*buffer), (std::vector<uint64_t>{1, 2}));
}

TEST_F(InFlight, EachHasItsOwnParametersAndOutput) {
  struct Large {
    uint64_t list;
    uint32_t values[2000];
  } large{};
  auto buffer = make_buffer(4096);
  large.list = buffer->address();
  image::MetalImage image = safe(image_of(R"(
      device ulong* list = (device ulong*)(*(constant ulong*)parameters + launch.arena);
      const uint value = ((constant uint*)(parameters + 8))[1999];
      list[++list[0]] = value;
      device ulong* record = (device ulong*)(launch.output + 16);
      record[0] = launch.module_data - launch.arena;
      record[1] = 4;
      record[2] = value;
      *(device uint*)launch.output = 24;)",
                                          sizeof large));
  const char format[] = "n = %d\n";
  for (const char c : format) image.data.push_back(static_cast<std::byte>(c));
  hal::Launch launch = launch_of(image, large);
  std::vector<hal::Command> commands;
  for (uint32_t i = 1; i <= 4; ++i) {
    reinterpret_cast<Large*>(launch.parameters.data())->values[1999] = i;
    commands.emplace_back(launch);
  }
  testing::internal::CaptureStdout();
  hold(true);
  const uint64_t last = queue->enqueue(commands);
  queue->start();
  EXPECT_TRUE(comes_true([] { return in_flight() == 4; }));
  hold(false);
  EXPECT_TRUE(queue->progress()->wait(last));
  device->flush_output();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "n = 1\nn = 2\nn = 3\nn = 4\n");
  EXPECT_EQ(listed(*buffer), (std::vector<uint64_t>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace cupola::metal
