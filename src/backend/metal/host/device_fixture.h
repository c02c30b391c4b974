#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "backend/metal/host/metal_device.h"
#include "image/metal_abi.h"
#include "image/metal_image.h"

// For tests: the metal device over the software Metal, with kernels written by hand in MSL.

namespace cupola::metal {

[[maybe_unused]] inline const int kSoftwareMetalChosen = setenv("CUPOLA_METAL_LIBRARY", CUPOLA_SOFTWARE_METAL, 0);
[[maybe_unused]] inline const int kNoCache = setenv("CUPOLA_CACHE", "0", 1);

inline const std::string kTestPrelude =
    std::string("#include <metal_stdlib>\nusing namespace metal;\n") + image::metal::kLaunchInMsl;

class DeviceFixture : public testing::Test {
 protected:
  /// An image of one kernel, "k", of which `body` is the body; `t` is its thread's number in the block.
  image::MetalImage image_of(const std::string& body, uint32_t parameter_bytes = 8) const {
    image::MetalImage image;
    image.target = device->properties().image_target;
    KernelInfo info;
    info.name = "k";
    info.parameter_bytes = parameter_bytes;
    image.kernels = {{info, "kernel_k", {}}};
    image.source = kTestPrelude +
                   "kernel void kernel_k(constant uchar* parameters [[buffer(0)]], constant Launch& launch "
                   "[[buffer(1)]], threadgroup uchar* shared [[threadgroup(0)]], uint3 tid "
                   "[[thread_position_in_threadgroup]], uint3 ctaid [[threadgroup_position_in_grid]]) {\n"
                   "const uint t = tid.x;\n" +
                   body + "}\n";
    return image;
  }
  Result<std::shared_ptr<hal::Executable>> load(const image::MetalImage& image) {
    return device->load(image::serialize(image));
  }

  std::unique_ptr<hal::Buffer> make_buffer(uint64_t bytes) {
    auto buffer = device->reserve(bytes).value();
    EXPECT_TRUE(buffer->commit(0, buffer->size()));
    return buffer;
  }

  template <typename Parameters>
  hal::Launch launch_of(const image::MetalImage& image, const Parameters& parameters) {
    hal::Launch launch;
    auto loaded = load(image);
    EXPECT_TRUE(loaded) << loaded.error().message;
    launch.executable = loaded.value();
    launch.parameters.resize(sizeof parameters);
    std::memcpy(launch.parameters.data(), &parameters, sizeof parameters);
    return launch;
  }

  Result<> run(hal::Command command) { return queue->progress()->wait(queue->submit(std::move(command))); }

  const std::unique_ptr<hal::Device> device = make_metal_device().value();
  const std::unique_ptr<hal::Queue> queue = device->create_queue(0).value();
};

}  // namespace cupola::metal
