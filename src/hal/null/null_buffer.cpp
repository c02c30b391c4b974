#include "hal/null/null_buffer.h"

#include <sys/mman.h>

#include <algorithm>
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

Result<std::unique_ptr<Buffer>> NullBuffer::reserve(HostState& state, uint64_t size) {
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
  return std::make_unique<NullBuffer>(state, begin + before, size);
}

NullBuffer::~NullBuffer() {
  state_.backed_bytes -= std::ranges::count(backed_, true) * kChunkBytes;
  munmap(base_, size_);
}

Result<> NullBuffer::commit(uint64_t offset, uint64_t size) {
  return change(offset, size, true);
}

Result<> NullBuffer::decommit(uint64_t offset, uint64_t size) {
  return change(offset, size, false);
}

Result<> NullBuffer::change(uint64_t offset, uint64_t size, bool backed) {
  if (offset % kChunkBytes || size % kChunkBytes || size > size_ || offset > size_ - size)
    return fail(ErrorCode::InvalidValue, "null device: [{}, +{}) is not a range of chunks in {} bytes", offset, size,
                size_);
  for (size_t chunk = offset / kChunkBytes; chunk < (offset + size) / kChunkBytes; ++chunk)
    if (backed_[chunk] != backed) TRY(map_chunk(chunk, backed));
  return {};
}

/// Puts a fresh mapping in the place of what is there.
Result<> NullBuffer::map_chunk(size_t chunk, bool backed) {
  if (backed && (state_.backed_bytes += kChunkBytes) > state_.memory_bytes) {
    state_.backed_bytes -= kChunkBytes;
    return fail(ErrorCode::OutOfMemory, "null device: all of its {} bytes are in use", state_.memory_bytes);
  }
  const int protection = backed ? PROT_READ | PROT_WRITE : PROT_NONE;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | kWithoutSwap;
  if (mmap(base_ + chunk * kChunkBytes, kChunkBytes, protection, flags, -1, 0) == MAP_FAILED) {
    if (backed) state_.backed_bytes -= kChunkBytes;
    return fail(ErrorCode::OutOfMemory, "null device: no memory for a chunk: {}", std::strerror(errno));
  }
  if (!backed) state_.backed_bytes -= kChunkBytes;
  backed_[chunk] = backed;
  return {};
}

}  // namespace cupola::hal
