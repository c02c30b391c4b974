// Traces are written by child processes, whose settings and end are the test's choice, and read here by the layout that
// trace_format.h documents.

#include "base/trace.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace cupola::trace {
namespace {

struct Seen {
  Record record;
  std::string name;
  uint32_t process, thread;
};

class Trace : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "cupola-trace-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = pattern + "/trace";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Runs `body` in a child whose trace goes to path_, and returns what waitpid says.
  template <typename Body>
  int in_child(Body&& body) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("CUPOLA_TRACE", path_.c_str(), 1);
      body();
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }

  std::vector<Seen> read() const {
    std::ifstream file(path_, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<Seen> events;
    uint64_t numbers[3];
    for (size_t chunk = kChunkBytes; chunk + kChunkBytes <= bytes.size(); chunk += kChunkBytes) {
      std::memcpy(numbers, bytes.data() + chunk, sizeof numbers);
      EXPECT_EQ(numbers[0], kChunkMagic);
      EXPECT_LE(numbers[2], kChunkBytes);
      for (size_t at = chunk + sizeof numbers; at < chunk + numbers[2];) {
        Seen seen;
        std::memcpy(&seen.record, bytes.data() + at, sizeof seen.record);
        seen.name.assign(bytes.data() + at + sizeof seen.record, seen.record.name_bytes);
        seen.process = static_cast<uint32_t>(numbers[1]);
        seen.thread = static_cast<uint32_t>(numbers[1] >> 32);
        EXPECT_GE(seen.record.bytes, sizeof seen.record);
        if (seen.record.bytes < sizeof seen.record) return events;
        at += seen.record.bytes;
        events.push_back(std::move(seen));
      }
    }
    return events;
  }

  std::string folder_, path_;
};

TEST_F(Trace, HoldsWhatHappenedWithItsTimes) {
  EXPECT_EQ(in_child([] {
              const uint64_t begin = now();
              std::this_thread::sleep_for(std::chrono::milliseconds(2));
              record({.kind = Kind::Kernel,
                      .begin = begin,
                      .end = now(),
                      .queue = 7,
                      .amount = 48,
                      .grid = {2, 3, 4},
                      .block = {5, 6, 7},
                      .name = "kernel"});
              Call call(Kind::DriverCall, "cuInit");
              call.returns(3);
            }),
            0);
  const std::vector<Seen> events = read();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "kernel");
  EXPECT_EQ(events[0].record.kind, Kind::Kernel);
  EXPECT_GE(events[0].record.end - events[0].record.begin, 2'000'000u);
  EXPECT_EQ(events[0].record.queue, 7u);
  EXPECT_EQ(events[0].record.amount, 48u);
  EXPECT_EQ(events[0].record.grid, (Dim3{2, 3, 4}));
  EXPECT_EQ(events[0].record.block, (Dim3{5, 6, 7}));
  EXPECT_EQ(events[1].name, "cuInit");
  EXPECT_EQ(events[1].record.amount, 3u);
  EXPECT_GE(events[1].record.begin, events[0].record.end);
}

TEST_F(Trace, CallsWithinACallAreNotTheProgramsOwn) {
  EXPECT_EQ(in_child([] {
              const Call outer(Kind::RuntimeCall, "outer");
              {
                const Call inner(Kind::RuntimeCall, "inner");
                if (depth() != 2 || inner.logged()) _exit(1);
              }
              if (depth() != 1) _exit(2);
            }),
            0);
  const std::vector<Seen> events = read();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "outer");
}

TEST_F(Trace, KilledProcessLosesNothing) {
  const int status = in_child([] {
    for (int i = 0; i < 5000; ++i) Call(Kind::DriverCall, "cuSomething");
    kill(getpid(), SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read().size(), 5000u);
}

TEST_F(Trace, ThreadsAndChildrenWriteToOneFile) {
  constexpr int kThreads = 8, kCalls = 3000;
  const auto work = [] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([] {
        for (int call = 0; call < kCalls; ++call) Call(Kind::DriverCall, "cuSomething");
      });
    for (std::thread& thread : threads) thread.join();
  };
  EXPECT_EQ(in_child([&] {
              Call(Kind::DriverCall, "parent");
              const pid_t child = fork();
              work();
              if (child == 0) _exit(0);
              int status = -1;
              waitpid(child, &status, 0);
              Call(Kind::DriverCall, "parent");
              _exit(status);
            }),
            0);
  const std::vector<Seen> events = read();
  EXPECT_EQ(std::ranges::count(events, "cuSomething", &Seen::name), 2 * kThreads * kCalls);
  EXPECT_EQ(std::ranges::count(events, "parent", &Seen::name), 2);
  std::vector<std::pair<uint32_t, uint32_t>> writers;
  for (const Seen& each : events) writers.emplace_back(each.process, each.thread);
  std::ranges::sort(writers);
  writers.erase(std::ranges::unique(writers).begin(), writers.end());
  EXPECT_EQ(writers.size(), 2u * kThreads + 1);
}

TEST_F(Trace, NamesOfAnyLength) {
  EXPECT_EQ(in_child([] {
              for (const size_t length : {0u, 1u, 8u, 3999u, 4000u, 4001u, 100'000u})
                record({.name = std::string(length, 'x')});
            }),
            0);
  std::vector<size_t> lengths;
  for (const Seen& each : read()) lengths.push_back(each.name.size());
  EXPECT_EQ(lengths, (std::vector<size_t>{0, 1, 8, 3999, 4000, 4000, 4000}));
}

TEST_F(Trace, OtherFilesAreLeftAlone) {
  std::ofstream(path_) << "my thesis";
  EXPECT_EQ(in_child([] {
              Call(Kind::DriverCall, "cuInit");
              _exit(recording() ? 1 : 0);
            }),
            0);
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "my thesis");
}

TEST_F(Trace, FullDiskEndsTheTraceAndNotTheProgram) {
  // The limit on file size stands for the full disk.
  EXPECT_EQ(in_child([] {
              signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{4 * kChunkBytes, 4 * kChunkBytes};
              setrlimit(RLIMIT_FSIZE, &limit);
              for (int i = 0; i < 100'000; ++i) Call(Kind::DriverCall, "cuSomething");
              _exit(recording() ? 1 : 0);
            }),
            0);
  EXPECT_GT(read().size(), 2000u);
}

TEST_F(Trace, NothingIsWrittenWithoutAFile) {
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("CUPOLA_TRACE");
    const Call call(Kind::DriverCall, "cuInit");
    _exit(recording() || depth() != 0 ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cupola::trace
