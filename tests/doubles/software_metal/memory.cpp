#include "doubles/software_metal/memory.h"

#include <sys/mman.h>

namespace cupola::software_metal {
namespace {

/// Where the GPU's addresses begin: far from where the host's are.
constexpr uintptr_t kGpuAddresses = uintptr_t{0x20} << 40;

std::byte* map_again(void* bytes, size_t size) {
  if (!bytes || reinterpret_cast<uintptr_t>(bytes) % kPageBytes != 0 || size == 0 || size % kPageBytes != 0)
    refuse_with("newBufferWithBytesNoCopy: {} bytes at {}, which are no whole pages of {}", size, bytes, kPageBytes);
  void* const place =
      mmap(reinterpret_cast<void*>(kGpuAddresses), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED || mremap(bytes, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, place) != place)
    refuse_with("newBufferWithBytesNoCopy: the memory at {} cannot be mapped once more: it must be shared", bytes);
  mprotect(place, size, PROT_NONE);
  return static_cast<std::byte*>(place);
}

void* contents(Buffer* self, Selector) {
  return self->host;
}
unsigned long length(Buffer* self, Selector) {
  return self->length;
}
uint64_t gpu_address(Buffer* self, Selector) {
  return reinterpret_cast<uint64_t>(self->gpu);
}

const Method kBuffer[] = {
    {"contents", "^v@:", code(contents)},
    {"length", "Q@:", code(length)},
    {"gpuAddress", "Q@:", code(gpu_address)},
};
auto& buffer_class = *new Class("MTLBuffer", kBuffer, {});

}  // namespace

Buffer::Buffer(void* bytes, size_t size)
    : host(static_cast<std::byte*>(bytes)), length(size), gpu(map_again(bytes, size)) {}

const Class& Buffer::isa() const {
  return buffer_class;
}

void Buffer::dispose() {
  if (users_ != 0) refuse("a MTLBuffer goes while a command buffer uses it");
  munmap(gpu, length);
}

void Buffer::make_resident() {
  const std::lock_guard lock(mutex_);
  if (users_++ == 0) mprotect(gpu, length, PROT_READ | PROT_WRITE);
}

void Buffer::end_residency() {
  const std::lock_guard lock(mutex_);
  if (--users_ == 0) mprotect(gpu, length, PROT_NONE);
}

}  // namespace cupola::software_metal
