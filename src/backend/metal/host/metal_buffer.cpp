#include "backend/metal/host/metal_buffer.h"

#include <algorithm>

namespace cupola::metal {

Result<std::unique_ptr<hal::Buffer>> MetalBuffer::reserve(MetalState& state, Arena& arena, uint64_t size) {
  if (size == 0) return fail(ErrorCode::InvalidValue, "metal: reserving 0 bytes");
  if (size > arena.size())
    return fail(ErrorCode::OutOfMemory, "metal: {} bytes were asked for; the device has addresses for {}", size,
                arena.size());
  TRY(ArenaPart part, arena.take((size + kChunkBytes - 1) / kChunkBytes * kChunkBytes, kChunkBytes));
  return std::make_unique<MetalBuffer>(state, arena, std::move(part));
}

MetalBuffer::~MetalBuffer() {
  state_.backed_bytes -= backed_bytes(0, size());
}

Result<> MetalBuffer::commit(uint64_t offset, uint64_t size) {
  TRY(check(offset, size));
  const uint64_t fresh = size - backed_bytes(offset, size);
  uint64_t used = state_.backed_bytes;
  do {
    if (fresh > state_.memory_bytes - used)
      return fail(ErrorCode::OutOfMemory, "metal: cannot back {} bytes: {} of the device's {} are in use", fresh, used,
                  state_.memory_bytes);
  } while (!state_.backed_bytes.compare_exchange_weak(used, used + fresh));
  mark(offset, size, true);
  return {};
}

Result<> MetalBuffer::decommit(uint64_t offset, uint64_t size) {
  TRY(check(offset, size));
  state_.backed_bytes -= backed_bytes(offset, size);
  arena_.clear(part_.address() + offset, size);
  mark(offset, size, false);
  return {};
}

Result<> MetalBuffer::check(uint64_t offset, uint64_t size) const {
  if (offset % kChunkBytes || size % kChunkBytes || size > part_.size() || offset > part_.size() - size)
    return fail(ErrorCode::InvalidValue, "metal: [{}, +{}) is not a range of chunks in {} bytes", offset, size,
                part_.size());
  return {};
}

uint64_t MetalBuffer::backed_bytes(uint64_t offset, uint64_t size) const {
  const auto first = backed_.begin() + static_cast<ptrdiff_t>(offset / kChunkBytes);
  return static_cast<uint64_t>(std::count(first, first + static_cast<ptrdiff_t>(size / kChunkBytes), true)) *
         kChunkBytes;
}

void MetalBuffer::mark(uint64_t offset, uint64_t size, bool backed) {
  const auto first = backed_.begin() + static_cast<ptrdiff_t>(offset / kChunkBytes);
  std::fill(first, first + static_cast<ptrdiff_t>(size / kChunkBytes), backed);
}

}  // namespace cupola::metal
