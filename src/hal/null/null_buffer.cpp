#include "hal/null/null_buffer.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace cupola::hal {
namespace {

#if defined(MAP_NORESERVE)
constexpr int kWithoutSwap = MAP_NORESERVE;
#else
constexpr int kWithoutSwap = 0;
#endif

}  // namespace

Result<std::unique_ptr<Buffer>> NullBuffer::reserve(uint64_t size) {
  if (size == 0 || size > UINT64_MAX - 2 * kChunkBytes)
    return fail(size ? ErrorCode::OutOfMemory : ErrorCode::InvalidValue, "null device: reserving {} bytes", size);
  size = (size + kChunkBytes - 1) / kChunkBytes * kChunkBytes;
  // A chunk more than asked for, of which the ends are given back, so that the range begins at a multiple of a chunk.
  const uint64_t whole = size + kChunkBytes;
  void* mapped = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | kWithoutSwap, -1, 0);
  if (mapped == MAP_FAILED)
    return fail(ErrorCode::OutOfMemory, "null device: no {} bytes of addresses: {}", size, std::strerror(errno));
  auto* begin = static_cast<std::byte*>(mapped);
  const uint64_t before = (kChunkBytes - reinterpret_cast<uint64_t>(begin) % kChunkBytes) % kChunkBytes;
  if (before) munmap(begin, before);
  munmap(begin + before + size, kChunkBytes - before);
  return std::make_unique<NullBuffer>(begin + before, size);
}

NullBuffer::~NullBuffer() {
  munmap(base_, size_);
}

Result<> NullBuffer::commit(uint64_t offset, uint64_t size) {
  return map(offset, size, PROT_READ | PROT_WRITE, 0);
}

Result<> NullBuffer::decommit(uint64_t offset, uint64_t size) {
  return map(offset, size, PROT_NONE, kWithoutSwap);
}

/// Puts a fresh mapping in the place of what is there.
Result<> NullBuffer::map(uint64_t offset, uint64_t size, int protection, int flags) {
  if (offset % kChunkBytes || size % kChunkBytes || size > size_ || offset > size_ - size)
    return fail(ErrorCode::InvalidValue, "null device: [{}, +{}) is not a range of chunks in {} bytes", offset, size,
                size_);
  if (size == 0) return {};
  if (mmap(base_ + offset, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | flags, -1, 0) == MAP_FAILED)
    return fail(ErrorCode::OutOfMemory, "null device: no memory for {} bytes: {}", size, std::strerror(errno));
  return {};
}

}  // namespace cupola::hal
