#include "backend/cpu/run/image_executable.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backend/cpu/run/cpu_device.h"

// Images that no device may load. Oracle: "CUDA C++ Programming Guide, Compute Capabilities": 48 KiB of static shared
// memory a block; more must be dynamic.

namespace cupola::cpu {
namespace {

/// One kernel that is a single return.
image::KernelImage make_image(const hal::Device& device, uint32_t static_shared_bytes) {
  image::KernelImage image;
  image.target = device.properties().image_target;
  image::Kernel kernel;
  kernel.info.name = "wide";
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
  EXPECT_TRUE(
      wide.error().message.starts_with("kernel wide has 49153 bytes of static shared memory; the most is 49152"))
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
    auto loaded = device_->load(image::serialize(image), std::move(source));
    ASSERT_TRUE(loaded) << loaded.error().message;
    executable_ = *loaded;
  }

  /// Answers with code for blocks of the class `made`, and notes what it is asked for.
  hal::CodeSource source(image::BlockClass made) {
    return [this, made](std::span<const std::byte> unit,
                        std::string_view code) -> Result<std::shared_ptr<const std::vector<std::byte>>> {
      EXPECT_EQ(unit.size(), 1u);
      asked_.emplace_back(code);
      image::KernelImage image = make_image(*device_, 0);
      if (made == image::BlockClass::One)
        image.kernels[0].entry = 0;
      else
        image.kernels[0].wide_entries[made] = {0, true};
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
  const auto failing = [](std::span<const std::byte>,
                          std::string_view) -> Result<std::shared_ptr<const std::vector<std::byte>>> {
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
  load([](std::span<const std::byte>, std::string_view) -> Result<std::shared_ptr<const std::vector<std::byte>>> {
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

}  // namespace
}  // namespace cupola::cpu
