#include "backend/metal/host/device_fixture.h"
#include "hal/cts/suite.h"

// The metal device in hal's conformance suite, over the software Metal. The kernels are written by hand in MSL, by
// image/metal_abi.h alone, so that this tests the host half without the compiler.

namespace cupola::metal {
namespace {

constexpr const char* kSource = R"(
struct Words {
  ulong out;
  uint base;
};

kernel void write_index(constant uchar* parameters [[buffer(0)]], constant Launch& launch [[buffer(1)]],
                        uint3 tid [[thread_position_in_threadgroup]], uint3 ntid [[threads_per_threadgroup]],
                        uint3 ctaid [[threadgroup_position_in_grid]], uint3 nctaid [[threadgroups_per_grid]]) {
  constant Words& p = *(constant Words*)parameters;
  const uint block = ctaid.x + nctaid.x * (ctaid.y + nctaid.y * ctaid.z);
  const uint i = block * ntid.x * ntid.y * ntid.z + tid.x + ntid.x * (tid.y + ntid.y * tid.z);
  ((device uint*)(p.out + launch.arena))[i] = p.base + i;
}

kernel void block_sum(constant uchar* parameters [[buffer(0)]], constant Launch& launch [[buffer(1)]],
                      threadgroup uchar* shared [[threadgroup(0)]],
                      uint3 tid [[thread_position_in_threadgroup]], uint3 ctaid [[threadgroup_position_in_grid]]) {
  constant Words& p = *(constant Words*)parameters;
  threadgroup uint* words = (threadgroup uint*)shared;
  words[tid.x] = p.base + tid.x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid.x != 127) return;
  uint sum = 0;
  for (uint i = 0; i < 128; ++i) sum += words[i];
  ((device uint*)(p.out + launch.arena))[ctaid.x] = sum;
}

kernel void bad_store(constant uchar* parameters [[buffer(0)]], constant Launch& launch [[buffer(1)]],
                      uint3 tid [[thread_position_in_threadgroup]], uint3 ntid [[threads_per_threadgroup]],
                      uint3 ctaid [[threadgroup_position_in_grid]], uint3 nctaid [[threadgroups_per_grid]]) {
  if (tid.x + 1 == ntid.x && ctaid.x + 1 == nctaid.x) *(device uint*)(16 + launch.arena) = 1;
}
)";

image::MetalKernel kernel(const char* name, std::vector<KernelInfo::Parameter> parameters, uint32_t shared = 0) {
  KernelInfo info;
  info.name = name;
  info.parameter_bytes = 16;
  info.parameters = std::move(parameters);
  info.static_shared_bytes = shared;
  return {info, name, {}};
}

std::shared_ptr<hal::Executable> make_kernels(hal::Device& device) {
  image::MetalImage image;
  image.target = device.properties().image_target;
  image.kernels = {kernel("write_index", {{0, 8}, {8, 4}}), kernel("block_sum", {{0, 8}, {8, 4}}, 512),
                   kernel("bad_store", {{0, 8}})};
  image.kernels[2].info.parameter_bytes = 8;
  image.source = kTestPrelude + kSource;
  auto loaded = device.load(image::serialize(image));
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded.value();
}

constexpr const char* kNoProgress = "Metal promises no kernel that it sees what the host writes while it runs";

[[maybe_unused]] const bool registered =
    hal::cts::register_backend({.name = "metal",
                                .make = [] { return make_metal_device().value(); },
                                .make_kernels = make_kernels,
                                .no_kernels_reason = "",
                                .unsupported = {{"Queue.LongChainsNeedNoStack", "each queue is a thread"},
                                                {"Launch.AKernelSeesTheHostAndAnotherQueue", kNoProgress}}});

}  // namespace
}  // namespace cupola::metal
