#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "backend/cpu/run/device_fixture.h"
#include "backend/cpu/run/sanitizer.h"

// The device as a part of a process: its threads, its memory, and the process's end.

namespace cupola::cpu {
namespace {

using Process = DeviceFixture;
using Counter = std::atomic<uint32_t>;

void count_up(ThreadContext* c, const std::byte* block) {
  c->services->barrier(c, 0, 0, 1);
  (*parameters_of<Counter*>(block))++;
}

#if defined(__linux__)
uint64_t status_kib(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key + ":")) return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
  return 0;
}

uint64_t mappings() {
  std::ifstream file("/proc/self/maps");
  uint64_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

TEST_F(Process, ManySmallLaunchesLeaveNoGrowth) {
#if CUPOLA_ASAN || CUPOLA_TSAN
  GTEST_SKIP() << "the sanitizers' own memory grows";
#endif
  Counter count{0};
  const auto run = [&](int launches) {
    for (int i = 0; i < launches; ++i) launch(count_up, {{2}, {32}}, &count);
    expect_success();
  };
  run(20000);
  const uint64_t memory = status_kib("VmRSS"), maps = mappings(), threads = status_kib("Threads");
  for (int i = 0; i < 4; ++i) run(20000);
  EXPECT_EQ(count.load(), 100000u * 64);
  // The queue holds one round's commands at a time, so later rounds need nothing new; 4 MiB are the allocator's slack.
  EXPECT_LT(status_kib("VmRSS"), memory + 4096);
  EXPECT_LE(mappings(), maps + 8);
  EXPECT_LE(status_kib("Threads"), threads);  // one of a test before may have ended late
}

TEST_F(Process, ADeviceThatIsOnlyAskedStartsNoThread) {
  const uint64_t before = status_kib("Threads");
  const auto device = make_cpu_device();
  EXPECT_GT(device->properties().multiprocessors, 0u);
  const auto buffer = device->reserve(1).value();
  const auto queue = device->create_queue(0).value();
  EXPECT_EQ(status_kib("Threads"), before);
}
#endif

TEST_F(Process, DeviceThreadsLeaveSignalsToTheProgram) {
  // A signal sent to the process while a kernel runs must find the main thread, which alone has it unblocked.
  static std::atomic<bool> here{false};
  static const std::thread::id main_thread = std::this_thread::get_id();
  Counter flag{0};
  launch(
      [](ThreadContext* c, const std::byte* block) {
        while (parameters_of<Counter*>(block)->load() == 0) c->services->poll(c);
      },
      {{4}, {4}}, &flag, {.polls = true});
  const auto before = signal(SIGUSR1, [](int) { here = std::this_thread::get_id() == main_thread; });
  for (int i = 0; i < 100; ++i) {
    here = false;
    kill(getpid(), SIGUSR1);
    while (!here) {
    }
  }
  signal(SIGUSR1, before);
  flag = 1;
  expect_success();
}

/// What a program that never cleans up leaves at its exit: busy workers, a parked queue, a static destructor that still
/// asks.
[[noreturn]] void leave_everything_running() {
  static Counter flag{0};
  static auto* const device = make_cpu_device().release();
  static auto* const polling = device->create_queue(0).value().release();
  static auto* const parked = device->create_queue(0).value().release();
  static auto* const calling = device->create_queue(0).value().release();
  auto executable = std::make_shared<NativeExecutable>();
  executable->add("poll", [](ThreadContext* c, const std::byte*) {
    while (flag.load() == 0) c->services->poll(c);
  });
  polling->submit(hal::Launch{.executable = executable, .grid = {16}, .block = {64}, .parameters = {}});
  parked->submit(hal::Wait{device->create_semaphore(0), 1});
  calling->submit(hal::HostCall{[] { std::this_thread::sleep_for(std::chrono::hours(1)); }});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::atexit([] {
    if (device->fault() || polling->progress()->value() != 0) _exit(3);
    device->flush_output();
  });
  std::exit(42);
}

TEST(ProcessEnd, BusyWorkersNeitherHangNorCrashIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(leave_everything_running(), testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace cupola::cpu
