#include <unistd.h>

#include "doubles/software_metal/commands.h"
#include "doubles/software_metal/foundation.h"

namespace cupola::software_metal {
namespace {

struct Device final : Object {
  const Class& isa() const override;
};

Object* name(Device*, Selector) {
  return autorelease(new String("software Metal: a double for tests, on the processor"));
}

uint64_t recommended_memory(Device*, Selector) {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

/// Addresses are plenty here; a GPU's limit is about that of its memory.
unsigned long max_buffer_length(Device*, Selector) {
  return 1ul << 40;
}

unsigned long max_threadgroup_memory(Device*, Selector) {
  return kMostThreadgroupBytes;
}

bool has_unified_memory(Device*, Selector) {
  return true;
}

Object* new_buffer(Device* self, Selector, void* bytes, unsigned long length, unsigned long options, void*) {
  constexpr unsigned long kShared = 0;
  if (options != kShared) refuse_with("newBufferWithBytesNoCopy: options {}; memory of the program is shared", options);
  if (length > max_buffer_length(self, nullptr)) return nullptr;
  return new Buffer(bytes, length);
}

const Method kDevice[] = {
    {"name", "@@:", code(name)},
    {"recommendedMaxWorkingSetSize", "Q@:", code(recommended_memory)},
    {"maxBufferLength", "Q@:", code(max_buffer_length)},
    {"maxThreadgroupMemoryLength", "Q@:", code(max_threadgroup_memory)},
    {"hasUnifiedMemory", "B@:", code(has_unified_memory)},
    {"newCommandQueue", "@@:", code(new_queue)},
    {"newBufferWithBytesNoCopy:length:options:deallocator:", "@@:^vQQ@?", code(new_buffer)},
    {"newLibraryWithSource:options:error:", "@@:@@^@", code(new_library)},
    {"newLibraryWithData:error:", "@@:@^@", code(new_library_with_data)},
    {"newComputePipelineStateWithFunction:error:", "@@:@^@", code(new_pipeline)},
    {"newComputePipelineStateWithDescriptor:options:reflection:error:", "@@:@Q^@^@", code(new_pipeline_with)},
    {"newBinaryArchiveWithDescriptor:error:", "@@:@^@", code(new_archive)},
};
auto& device_class = *new Class("MTLDevice", kDevice, {});

const Class& Device::isa() const {
  return device_class;
}

}  // namespace
}  // namespace cupola::software_metal

/// One for the process; each call gives a reference.
extern "C" __attribute__((visibility("default"))) cupola::software_metal::Object* MTLCreateSystemDefaultDevice() {
  static auto* const device = new cupola::software_metal::Device;
  return cupola::software_metal::retain(device);
}
