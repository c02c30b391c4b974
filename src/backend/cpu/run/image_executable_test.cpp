#include "backend/cpu/run/image_executable.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cupola::cpu
