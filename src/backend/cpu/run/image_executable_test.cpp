#include "backend/cpu/run/image_executable.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backend/cpu/run/background.h"
#include "backend/cpu/run/cpu_device.h"
#include "backend/cpu/run/watch.h"
#include "base/mutex.h"

// Images that no device may load. Oracle: "CUDA C++ Programming Guide, Compute Capabilities": 48 KiB of static shared
// memory a block; more must be dynamic.

namespace cupola::cpu {
namespace {

/// One kernel that is a single return.
image::KernelImage make_image(const hal::Device& device, uint32_t static_shared_bytes) {
  image::KernelImage image;
  image.target = device.properties().image_target;
  image::Kernel kernel;
  kernel.info.name = "_Z4widePf";
  kernel.info.static_shared_bytes = static_shared_bytes;
  image.kernels.push_back(kernel);
  image.segment.resize(4096, std::byte{0xC3});
  image.slots_offset = 4096;
  return image;
}

TEST(ImageExecutable, StaticSharedMemoryEndsAt48KiB) {
  const auto device = make_cpu_device();
  const auto fits = device->load(image::serialize(make_image(*device, 48 << 10)));
  EXPECT_TRUE(fits) << fits.error().message;
  const auto wide = device->load(image::serialize(make_image(*device, (48 << 10) + 1)));
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().code, ErrorCode::InvalidPtx);
  EXPECT_TRUE(wide.error().message.starts_with(
      "kernel wide(float*) has 49153 bytes of static shared memory; the most is 49152"))
      << wide.error().message;
}

TEST(ImageExecutable, AnotherTargetIsRefused) {
  const auto device = make_cpu_device();
  image::KernelImage image = make_image(*device, 0);
  image.target = "another";
  const auto loaded = device->load(image::serialize(image));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::NoBinaryForGpu);
}

// ---- code that is made later ----

/// A kernel whose code a source makes: a return.
class LaterCode : public ::testing::Test {
 protected:
  void load(hal::CodeSource source) {
    image::KernelImage image = make_image(*device_, 0);
    image.segment.clear();
    image.slots_offset = 0;
    image.kernels[0].unit = {std::byte{'u'}};
    constexpr uint64_t kHour = 3600'000'000'000;  // or a busy machine asks for hot code
    auto loaded =
        load_image(image::serialize(image), device_->properties(), std::move(source), {HotPolicy::Later, kHour});
    ASSERT_TRUE(loaded) << loaded.error().message;
    executable_ = *loaded;
  }

  static constexpr uint32_t kMostInstructions = 12'345;

  /// Answers with code for blocks of the class `made`, and notes what it is asked for.
  hal::CodeSource source(image::BlockClass made) {
    return [this, made](std::span<const std::byte> unit, std::string_view code,
                        hal::Ask ask) -> Result<std::shared_ptr<const std::vector<std::byte>>> {
      if (ask == hal::Ask::Look) return nullptr;
      EXPECT_EQ(unit.size(), 1u);
      asked_.emplace_back(code);
      image::KernelImage image = make_image(*device_, 0);
      if (made == image::BlockClass::One)
        image.kernels[0].entry = 0;
      else
        image.kernels[0].wide_entries[made] = {0, true};
      image.kernels[0].most_instructions = kMostInstructions;
      return std::make_shared<const std::vector<std::byte>>(image::serialize(image));
    };
  }

  Result<> launch(const Dim3& block) {
    const auto queue = device_->create_queue(0).value();
    hal::Launch launch;
    launch.executable = executable_;
    launch.grid = {3};
    launch.block = block;
    return queue->progress()->wait(queue->submit(std::move(launch)));
  }

  std::unique_ptr<hal::Device> device_ = make_cpu_device();
  std::shared_ptr<hal::Executable> executable_;
  std::vector<std::string> asked_;
};

// Most kernels know blocks of one shape.
TEST_F(LaterCode, IsAskedForOnceForTheFirstShapeAndOnceAClass) {
  load(source(image::BlockClass::Any));
  EXPECT_FALSE(executable_->has_code(0));
  EXPECT_TRUE(executable_->prepare(0, {33}));
  EXPECT_TRUE(executable_->has_code(0));
  for (const Dim3& block : {Dim3{34}, Dim3{5, 5}, Dim3{64}, Dim3{64, 2}, Dim3{16, 16}, Dim3{96}, Dim3{64}})
    EXPECT_TRUE(executable_->prepare(0, block));
  EXPECT_EQ(asked_, (std::vector<std::string>{"line", "any", "rows-64x1x1", "rows", "rows16"}));
}

TEST_F(LaterCode, KeepsWhatTheImageSaysOfItsLength) {
  load(source(image::BlockClass::Rows));
  ASSERT_TRUE(executable_->prepare(0, {32}));
  EXPECT_EQ(static_cast<const CpuExecutable&>(*executable_).code(0, {32})->most_instructions, kMostInstructions);
}

TEST_F(LaterCode, OfAShapeRunsBlocksOfThatShapeAlone) {
  load(source(image::BlockClass::Rows));
  EXPECT_TRUE(launch({32, 2}));
  EXPECT_TRUE(launch({32, 4}));
  EXPECT_TRUE(launch({32, 2}));
  EXPECT_EQ(asked_, (std::vector<std::string>{"rows-32x2x1", "rows"}));
}

TEST_F(LaterCode, IsMadeByTheFirstLaunchIfNobodyDidBefore) {
  load(source(image::BlockClass::One));
  for (int i = 0; i < 3; ++i) {
    const Result<> result = launch({1});
    EXPECT_TRUE(result) << result.error().message;
  }
  EXPECT_EQ(asked_, std::vector<std::string>{"one"});
}

TEST_F(LaterCode, ErrorsAreThoseOfItsSource) {
  const auto failing = [](std::span<const std::byte>, std::string_view,
                          hal::Ask) -> Result<std::shared_ptr<const std::vector<std::byte>>> {
    return fail(ErrorCode::InvalidSource, "no");
  };
  load(failing);
  const Result<> prepared = executable_->prepare(0, {32});
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, ErrorCode::InvalidSource);
  const Result<> launched = launch({32});
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, ErrorCode::InvalidSource);
}

TEST_F(LaterCode, AnAnswerForOtherBlocksIsRefused) {
  load(source(image::BlockClass::Rows));
  const Result<> prepared = executable_->prepare(0, {33});
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, ErrorCode::InvalidImage);
}

TEST_F(LaterCode, NoMemoryToMakeItIsAFaultOfTheLaunch) {
  load([](std::span<const std::byte>, std::string_view,
          hal::Ask ask) -> Result<std::shared_ptr<const std::vector<std::byte>>> {
    if (ask == hal::Ask::Look) return nullptr;
    throw std::bad_alloc();
  });
  const Result<> launched = launch({32});
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, ErrorCode::OutOfMemory);
}

// Host functions wait for what they like; kernels of other queues do not wait for them.
TEST_F(LaterCode, IsMadeWhileAHostFunctionWaits) {
  load(source(image::BlockClass::Rows));
  std::atomic<bool> go{false};
  const auto blocked = device_->create_queue(0).value(), other = device_->create_queue(0).value();
  const uint64_t last = blocked->submit(hal::HostCall{[&] { go.wait(false); }});
  hal::Launch command;
  command.executable = executable_;
  command.grid = {3};
  command.block = {32};
  const uint64_t number = other->submit(std::move(command));
  const auto is_done = [&] { return other->progress()->value() >= number; };
  for (int i = 0; i < 10'000 && !is_done(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(is_done());
  go = true;
  go.notify_all();
  EXPECT_TRUE(blocked->progress()->wait(last));
}

TEST_F(LaterCode, WithoutASourceThereIsNone) {
  load({});
  const Result<> prepared = executable_->prepare(0, {33});
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, ErrorCode::NoBinaryForGpu);
}

// ---- hot code ----

/// A kernel whose code a source makes, of which hot code is made once it ran for an hour: tests say how long it ran.
class HotCode : public ::testing::Test {
 protected:
  static constexpr uint64_t kHour = 3'600'000'000'000;

  ~HotCode() override { Background::wait_until_idle(); }

  void load(HotPolicy::When when = HotPolicy::Later) {
    image::KernelImage image = make_image(*device_, 0);
    image.segment.clear();
    image.slots_offset = 0;
    image.kernels[0].unit = {std::byte{'u'}};
    image.kernels[0].begins_by_thread = begins_by_thread_;
    const auto source = [this](std::span<const std::byte>, std::string_view code, hal::Ask ask) {
      return answer(std::string(code), ask);
    };
    hal::DeviceProperties properties = device_->properties();
    properties.multiprocessors = workers_;
    auto loaded = load_image(image::serialize(image), properties, source, {when, kHour});
    ASSERT_TRUE(loaded) << loaded.error().message;
    executable_ = *loaded;
  }

  Result<std::shared_ptr<const std::vector<std::byte>>> answer(const std::string& code, hal::Ask ask) {
    const bool is_hot = code.ends_with("-hot");
    Lock lock(mutex_);
    if (ask == hal::Ask::Look && !has_hot_) return nullptr;
    asked_.push_back(code);
    if (is_hot) {
      while (held_) released_.wait(lock);
      if (fails_) return fail(ErrorCode::NotSupported, "no hot code today");
    }
    image::KernelImage image = make_image(*device_, 0);
    const image::BlockClass blocks = image::blocks_requested(code)->blocks;
    if (blocks == image::BlockClass::One)
      image.kernels[0].entry = 0;
    else
      image.kernels[0].wide_entries[blocks] = {is_hot ? 64u : 0u, true};
    image.kernels[0].rung = rung_;
    image.kernels[0].polls = is_hot ? hot_polls_ : thread_polls_ && blocks == image::BlockClass::One;
    image.kernels[0].improvable = !is_hot && improvable_;
    return std::make_shared<const std::vector<std::byte>>(image::serialize(image));
  }

  /// Hot code is not done before release().
  void hold() {
    Lock lock(mutex_);
    held_ = true;
  }
  void release() {
    Lock lock(mutex_);
    held_ = false;
    released_.notify_all();
  }

  const KernelCode* code(const Dim3& block) const { return executable_->code(0, block); }

  /// As if the code that blocks of this shape run had run for so long.
  void runs(const Dim3& block, uint64_t nanoseconds) {
    Watch* const watch = code(block)->watch;
    ASSERT_TRUE(watch);
    watch->ran(nanoseconds);
  }

  /// Prepares, and runs until hot code is asked for; true once it has come.
  bool becomes_hot(const Dim3& block) {
    if (!executable_->prepare(0, block)) return false;
    const KernelCode* const first = code(block);
    if (first->watch) first->watch->ran(kHour);
    Background::wait_until_idle();
    return code(block) != first && !code(block)->watch;
  }

  std::vector<std::string> asked() {
    Lock lock(mutex_);
    return asked_;
  }

  std::unique_ptr<hal::Device> device_ = make_cpu_device();
  std::shared_ptr<CpuExecutable> executable_;
  Mutex mutex_;
  Condition released_;
  std::vector<std::string> asked_ GUARDED_BY(mutex_);
  bool held_ GUARDED_BY(mutex_) = false;
  bool has_hot_ = false, fails_ = false, improvable_ = true, hot_polls_ = false;
  bool begins_by_thread_ = false, thread_polls_ = false;
  image::Rung rung_ = image::Rung::ThreadLoop;
  uint32_t workers_ = 2;
};

TEST_F(HotCode, IsAskedForOnceWhenTheFirstCodeRanForLong) {
  load();
  ASSERT_TRUE(executable_->prepare(0, {64}));
  runs({64}, kHour - 1);
  Background::wait_until_idle();
  EXPECT_EQ(asked(), std::vector<std::string>{"rows-64x1x1"});
  Watch* const watch = code({64})->watch;
  runs({64}, 1);
  watch->ran(kHour);
  Background::wait_until_idle();
  EXPECT_EQ(asked(), (std::vector<std::string>{"rows-64x1x1", "rows-64x1x1-hot"}));
  EXPECT_FALSE(code({64})->watch);
  EXPECT_FALSE(watch->counts());
  ASSERT_TRUE(executable_->prepare(0, {64}));
  EXPECT_EQ(asked().size(), 2u);
}

TEST_F(HotCode, IsMadeForFourShapesOfAKernel) {
  load();
  for (const Dim3& block : {Dim3{33}, Dim3{64}, Dim3{96}, Dim3{100}}) EXPECT_TRUE(becomes_hot(block)) << block.x;
  for (const Dim3& block : {Dim3{128}, Dim3{16, 16}}) EXPECT_FALSE(becomes_hot(block)) << block.x;
  EXPECT_EQ(asked(), (std::vector<std::string>{"line", "line-33x1x1-hot", "rows-64x1x1", "rows-64x1x1-hot", "rows",
                                               "rows-96x1x1-hot", "line-100x1x1-hot", "rows16"}));
}

// Sizes that come from the data take no place from the shape that most launches have.
TEST_F(HotCode, AlwaysHasAPlaceForTheFirstShapeOfWholeWarps) {
  load();
  for (uint32_t x : {33, 34, 35, 36, 37}) EXPECT_TRUE(executable_->prepare(0, {x}));
  EXPECT_FALSE(code({36})->watch);
  EXPECT_TRUE(becomes_hot({64}));
}

TEST_F(HotCode, IsNotMadeWhereItWouldBeTheSame) {
  improvable_ = false;
  load();
  EXPECT_FALSE(becomes_hot({64}));
  EXPECT_FALSE(code({64})->watch);
  EXPECT_TRUE(becomes_hot({96})) << "the class's code knows no sizes";
}

// What takes long to make is not waited for.
TEST_F(HotCode, TakesThePlaceOfCodeForAThread) {
  begins_by_thread_ = true;
  improvable_ = false;
  load();
  ASSERT_TRUE(executable_->prepare(0, {64}));
  EXPECT_EQ(code({64})->width, 1u);
  EXPECT_EQ(asked(), std::vector<std::string>{"one"});
  EXPECT_TRUE(becomes_hot({64}));
  EXPECT_GT(code({64})->width, 1u);
  EXPECT_EQ(asked(), (std::vector<std::string>{"one", "rows-64x1x1-hot"}));
  ASSERT_TRUE(executable_->prepare(0, {96}));
  EXPECT_GT(code({96})->width, 1u) << "other shapes have the code of their class";
}

// Else the compiler would get a third of a core, and slow code the others.
TEST_F(HotCode, IsWaitedForByTheWorkerThatRanCodeForAThread) {
  begins_by_thread_ = true;
  load();
  hold();
  ASSERT_TRUE(executable_->prepare(0, {64}));
  std::atomic<bool> went_on = false;
  std::thread worker([&] {
    code({64})->watch->ran(kHour);
    went_on = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(went_on);
  release();
  worker.join();
  EXPECT_GT(code({64})->width, 1u);
}

// What the last of the blocks have to wait for is over sooner without.
TEST_F(HotCode, IsNotWaitedForByAWorkerWithoutMoreBlocks) {
  begins_by_thread_ = true;
  load();
  hold();
  ASSERT_TRUE(executable_->prepare(0, {64}));
  code({64})->watch->ran(kHour, /*goes_on=*/false);
  EXPECT_EQ(code({64})->width, 1u);
  release();
  Background::wait_until_idle();
  EXPECT_GT(code({64})->width, 1u);
}

TEST_F(HotCode, ThatFailsLeavesCodeForAThread) {
  begins_by_thread_ = fails_ = true;
  load();
  EXPECT_FALSE(becomes_hot({64}));
  EXPECT_EQ(code({64})->width, 1u);
}

// A stack for each thread of each core's block may be more than the system gives.
TEST_F(HotCode, ReplacesNoCodeForAThreadThatNeedsManyStacks) {
  begins_by_thread_ = true;
  workers_ = 64;
  for (const image::Rung rung : {image::Rung::ThreadLoop, image::Rung::ThreadFibres})
    for (uint32_t threads : {64, 96}) {
      rung_ = rung;
      load();
      ASSERT_TRUE(executable_->prepare(0, {threads}));
      EXPECT_EQ(code({threads})->width == 1, rung == image::Rung::ThreadLoop || threads == 64) << threads;
    }
}

TEST_F(HotCode, ReplacesNoCodeForAThreadThatPollsOrStays) {
  begins_by_thread_ = thread_polls_ = true;
  load();
  ASSERT_TRUE(executable_->prepare(0, {64}));
  EXPECT_EQ(asked(), (std::vector<std::string>{"one", "rows-64x1x1"}));
  thread_polls_ = false;
  load(HotPolicy::Never);
  ASSERT_TRUE(executable_->prepare(0, {64}));
  load(HotPolicy::Now);
  ASSERT_TRUE(executable_->prepare(0, {64}));
  EXPECT_EQ(asked(), (std::vector<std::string>{"one", "rows-64x1x1", "rows-64x1x1", "rows-64x1x1-hot"}));
}

TEST_F(HotCode, IsTakenAtOnceWhereItIsThere) {
  has_hot_ = true;
  load();
  ASSERT_TRUE(executable_->prepare(0, {64}));
  EXPECT_FALSE(code({64})->watch);
  EXPECT_EQ(asked(), std::vector<std::string>{"rows-64x1x1-hot"});
}

TEST_F(HotCode, IsMadeBeforeTheFirstLaunchOrNeverAsTheSettingSays) {
  load(HotPolicy::Now);
  ASSERT_TRUE(executable_->prepare(0, {33}));
  EXPECT_EQ(asked(), std::vector<std::string>{"line-33x1x1-hot"});
  load(HotPolicy::Never);
  for (const Dim3& block : {Dim3{33}, Dim3{64}, Dim3{96}}) {
    ASSERT_TRUE(executable_->prepare(0, block));
    EXPECT_FALSE(code(block)->watch);
  }
  EXPECT_EQ(asked(), (std::vector<std::string>{"line-33x1x1-hot", "line", "rows-64x1x1", "rows"}));
}

TEST_F(HotCode, ThatCannotBeMadeLeavesTheFirst) {
  fails_ = true;
  load();
  EXPECT_FALSE(becomes_hot({64}));
  EXPECT_TRUE(code({64}));
  EXPECT_FALSE(device_->fault());
  fails_ = false;
  EXPECT_FALSE(becomes_hot({64})) << "it is not tried again";
  fails_ = true;
  load(HotPolicy::Now);
  EXPECT_TRUE(executable_->prepare(0, {64}));
}

// A launch that goes on may run both, and whether blocks wait for each other decides how they are handed out.
TEST_F(HotCode, ThatWaitsInOtherWaysIsRefused) {
  hot_polls_ = true;
  load();
  EXPECT_FALSE(becomes_hot({64}));
}

TEST_F(HotCode, IsWaitedForByNoLaunch) {
  hold();
  load();
  const auto queue = device_->create_queue(0).value();
  const auto launch = [&] {
    hal::Launch command;
    command.executable = executable_;
    command.grid = {3};
    command.block = {64};
    return queue->progress()->wait(queue->submit(std::move(command)));
  };
  ASSERT_TRUE(launch());
  Watch* const watch = code({64})->watch;
  watch->ran(kHour);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(launch());
  EXPECT_EQ(watch->hot(), nullptr);
  release();
  Background::wait_until_idle();
  EXPECT_NE(watch->hot(), nullptr);
  EXPECT_TRUE(launch());
}

TEST_F(HotCode, TakesOverWhileManyThreadsLaunch) {
  hold();
  load();
  ASSERT_TRUE(executable_->prepare(0, {64}));
  std::atomic<int> launched = 0;
  std::atomic<bool> enough = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const auto queue = device_->create_queue(0).value();
      while (!enough) {
        hal::Launch command;
        command.executable = executable_;
        command.grid = {200};
        command.block = {64};
        EXPECT_TRUE(queue->progress()->wait(queue->submit(std::move(command))));
        ++launched;
      }
    });
  const auto wait_for = [&](int more) {
    for (const int until = launched + more; launched < until;) std::this_thread::yield();
  };
  wait_for(20);
  code({64})->watch->ran(kHour);
  wait_for(20);
  release();
  Background::wait_until_idle();
  EXPECT_FALSE(code({64})->watch);
  wait_for(20);
  enough = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(HotCode, OutlivesItsModuleWhileItIsMade) {
  hold();
  load();
  ASSERT_TRUE(executable_->prepare(0, {64}));
  runs({64}, kHour);
  const std::weak_ptr<CpuExecutable> left = executable_;
  executable_ = nullptr;
  release();
  Background::wait_until_idle();
  EXPECT_TRUE(left.expired());
}

}  // namespace
}  // namespace cupola::cpu
