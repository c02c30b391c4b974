#include "../image/device_calls.h"
#include "../image/device_facts.h"
#include "device.h"

// What kernels ask about their device and about kernels: "CUDA C++ Programming Guide, CUDA Dynamic Parallelism, API
// Reference". Types are written by hand, as in launches.cu.

extern "C" DEVICE unsigned cupola_device_call(unsigned kind, void* operands) __asm__("cupola.device_call");
extern "C" DEVICE const cupola::image::DeviceFacts* cupola_device_facts() __asm__("cupola.device_facts");
extern "C" DEVICE int* cupola_last_error() __asm__("cupola.last_error");

namespace {

using namespace cupola::image;
using Size = unsigned long;

/// cudaFuncAttributes of driver_types.h.
struct FunctionAttributes {
  Size shared_bytes, constant_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version, cache_mode, most_dynamic_shared_bytes, carveout;
  int others[22];
};
static_assert(sizeof(FunctionAttributes) == 144);

// cudaError_t and cudaDeviceAttr.
constexpr int kInvalidValue = 1, kInvalidDevice = 101, kUnsupportedLimit = 215;
constexpr int kMajor = 75, kMinor = 76, kSharedBytesPerBlock = 8;
constexpr int kRuntimeVersion = 13000;

LOCAL int finish(int error) {
  if (error) *cupola_last_error() = error;
  return error;
}

LOCAL int attribute(int number) {
  return cupola_device_facts()->attributes[number];
}

LOCAL int facts_of(const void* kernel, DeviceKernelFacts& facts) {
  facts.kernel = kernel;
  return finish((int)cupola_device_call((unsigned)DeviceCall::KernelFacts, &facts));
}

}  // namespace

extern "C" {

DEVICE int cudaGetDevice(int* device) {
  if (!device) return finish(kInvalidValue);
  *device = cupola_device_facts()->device;
  return 0;
}

DEVICE int cudaGetDeviceCount(int* count) {
  if (!count) return finish(kInvalidValue);
  *count = cupola_device_facts()->devices;
  return 0;
}

/// Of the kernel's own device.
DEVICE int cudaDeviceGetAttribute(int* value, int number, int device) {
  if (!value || (unsigned)number >= DeviceFacts::kAttributes || attribute(number) == DeviceFacts::kNoAttribute)
    return finish(kInvalidValue);
  if (device != cupola_device_facts()->device) return finish(kInvalidDevice);
  *value = attribute(number);
  return 0;
}

DEVICE int cudaDeviceGetLimit(Size* value, int limit) {
  if (!value) return finish(kInvalidValue);
  if ((unsigned)limit >= DeviceFacts::kLimits) return finish(kUnsupportedLimit);
  *value = *(const volatile unsigned long long*)&cupola_device_facts()->limits[limit];
  return 0;
}

DEVICE int cudaRuntimeGetVersion(int* version) {
  if (!version) return finish(kInvalidValue);
  *version = kRuntimeVersion;
  return 0;
}

DEVICE int cudaFuncGetAttributes(FunctionAttributes* attributes, const void* kernel) {
  if (!attributes) return finish(kInvalidValue);
  DeviceKernelFacts facts{};
  if (const int error = facts_of(kernel, facts)) return error;
  const int shared = attribute(kSharedBytesPerBlock);
  *attributes = {};
  attributes->shared_bytes = facts.static_shared_bytes;
  attributes->local_bytes = facts.local_bytes;
  attributes->max_threads_per_block = (int)facts.max_threads_per_block;
  attributes->registers = (int)facts.registers;
  attributes->ptx_version = attributes->binary_version = attribute(kMajor) * 10 + attribute(kMinor);
  attributes->most_dynamic_shared_bytes =
      shared > (int)facts.static_shared_bytes ? shared - (int)facts.static_shared_bytes : 0;
  attributes->carveout = -1;
  return 0;
}

DEVICE int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int block_threads,
                                                                  Size dynamic_shared_bytes, unsigned flags) {
  if (!blocks || block_threads <= 0 || flags > 1) return finish(kInvalidValue);
  DeviceKernelFacts facts{};
  facts.block_threads = (unsigned)block_threads;
  facts.dynamic_shared_bytes = dynamic_shared_bytes > 0xffffffffu ? 0xffffffffu : (unsigned)dynamic_shared_bytes;
  if (const int error = facts_of(kernel, facts)) return error;
  *blocks = (int)facts.resident_blocks;
  return 0;
}

DEVICE int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_threads,
                                                         Size dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, block_threads, dynamic_shared_bytes, 0);
}

}  // extern "C"
