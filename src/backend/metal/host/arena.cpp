#include "backend/metal/host/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cupola::metal {
namespace {

#if defined(MAP_NORESERVE)
constexpr int kWithoutSwap = MAP_NORESERVE;
#else
constexpr int kWithoutSwap = 0;
#endif

constexpr uint64_t kLeastPart = 64;

uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Shared, so that the GPU's view of a page stays the host's. Aligned: more is mapped, and the ends given back.
std::byte* map_aligned(uint64_t size) {
  const uint64_t alignment = Arena::kAlignment, whole = size + alignment;
  void* mapped = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | kWithoutSwap, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(mapped);
  const uint64_t before = (alignment - reinterpret_cast<uint64_t>(begin) % alignment) % alignment;
  if (before) munmap(begin, before);
  munmap(begin + before + size, alignment - before);
  return begin + before;
}

}  // namespace

Result<std::unique_ptr<Arena>> Arena::make(const Metal& metal, Id device, uint64_t bytes) {
  std::byte* const base = map_aligned(bytes);
  if (!base)
    return fail(ErrorCode::OutOfMemory, "metal: no {} bytes of addresses for the device's memory: {}", bytes,
                std::strerror(errno));
  Object buffer(metal, metal.new_buffer(device, base, bytes, kStorageShared, nullptr));
  if (!buffer) {
    munmap(base, bytes);
    return fail(ErrorCode::OutOfMemory, "metal: no buffer of {} bytes; CUPOLA_MEMORY sets the device's memory", bytes);
  }
  const uint64_t to_gpu = metal.gpu_address(buffer.id()) - reinterpret_cast<uint64_t>(base);
  return std::unique_ptr<Arena>(new Arena(base, bytes, std::move(buffer), to_gpu));
}

Arena::Arena(std::byte* base, uint64_t size, Object buffer, uint64_t to_gpu)
    : base_(base), size_(size), buffer_(std::move(buffer)), to_gpu_(to_gpu) {
  free_[0] = size;
}

Arena::~Arena() {
  buffer_ = Object();
  munmap(base_, size_);
}

Result<ArenaPart> Arena::take(uint64_t bytes, uint64_t alignment) {
  Lock lock(mutex_);
  if (bytes <= size_) {
    bytes = std::max(kLeastPart, round_up(bytes, kLeastPart));
    auto best = free_.end();
    for (auto place = free_.begin(); place != free_.end(); ++place) {
      const uint64_t before = round_up(place->first, alignment) - place->first;
      if (place->second < before || place->second - before < bytes) continue;
      if (best == free_.end() || place->second < best->second) best = place;
    }
    if (best != free_.end()) {
      const auto [offset, size] = *best;
      const uint64_t begin = round_up(offset, alignment);
      free_.erase(best);
      if (begin != offset) free_[offset] = begin - offset;
      if (begin + bytes != offset + size) free_[begin + bytes] = offset + size - begin - bytes;
      return ArenaPart(*this, base_ + begin, bytes);
    }
  }
  return fail(ErrorCode::OutOfMemory, "metal: no {} bytes of addresses in a row are left of the device's {}", bytes,
              size_);
}

void Arena::give_back(std::byte* address, uint64_t bytes) {
  clear(address, bytes);
  Lock lock(mutex_);
  const auto place = free_.emplace(offset(address), bytes).first;
  if (const auto next = std::next(place); next != free_.end() && place->first + place->second == next->first) {
    place->second += next->second;
    free_.erase(next);
  }
  if (place == free_.begin()) return;
  const auto before = std::prev(place);
  if (before->first + before->second != place->first) return;
  before->second += place->second;
  free_.erase(place);
}

void Arena::clear(std::byte* address, uint64_t bytes) {
#if defined(__linux__)
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = round_up(offset(address), page), end = (offset(address) + bytes) / page * page;
  if (begin < end && madvise(base_ + begin, end - begin, MADV_REMOVE) == 0) {
    std::memset(address, 0, begin - offset(address));
    std::memset(base_ + end, 0, offset(address) + bytes - end);
    return;
  }
#endif
  std::memset(address, 0, bytes);
}

}  // namespace cupola::metal
