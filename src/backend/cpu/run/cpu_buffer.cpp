#include "backend/cpu/run/cpu_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "backend/cpu/run/moving_memory.h"

namespace cupola::cpu {
namespace {

// From here on huge pages are worth the zeroing of what may never be touched.
constexpr uint64_t kHugePagesFrom = 16 << 20;

}  // namespace

bool MemoryAccount::take(uint64_t bytes) {
  uint64_t used = used_.load();
  do {
    if (bytes > limit_ - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes));
  return true;
}

Result<std::unique_ptr<CpuBuffer>> CpuBuffer::reserve(uint64_t size, MemoryAccount& account) {
  constexpr uint64_t kMost = uint64_t{1} << 46;
  if (size > kMost)
    return fail(ErrorCode::OutOfMemory, "cannot reserve {} bytes of addresses: more than this machine has", size);
  const uint64_t rounded = std::max<uint64_t>(1, (size + kChunk - 1) / kChunk) * kChunk;
  AlignedMapping range = AlignedMapping::reserve(rounded, kChunk, PROT_NONE);
  if (!range.data())
    return fail(ErrorCode::OutOfMemory, "cannot reserve {} bytes of addresses: {}", rounded, std::strerror(errno));
  return std::unique_ptr<CpuBuffer>(new CpuBuffer(std::move(range), account));
}

CpuBuffer::CpuBuffer(AlignedMapping range, MemoryAccount& account)
    : range_(std::move(range)), account_(account), backed_(range_.size() / kChunk) {}

CpuBuffer::~CpuBuffer() {
  MovingMemory::forget(range_.data());
  account_.give_back(count(0, size(), true));
}

Result<> CpuBuffer::check(const char* what, uint64_t offset, uint64_t size) const {
  if (offset % kChunk || size % kChunk || offset > range_.size() || size > range_.size() - offset)
    return fail(ErrorCode::InvalidValue,
                "{} of {} bytes at offset {}: must be whole chunks of {} within the {} reserved", what, size, offset,
                kChunk, range_.size());
  return {};
}

/// Bytes of the range that are backed, or that are not.
uint64_t CpuBuffer::count(uint64_t offset, uint64_t size, bool backed) const {
  const auto first = backed_.begin() + static_cast<ptrdiff_t>(offset / kChunk);
  return static_cast<uint64_t>(std::count(first, first + static_cast<ptrdiff_t>(size / kChunk), backed)) * kChunk;
}

void CpuBuffer::mark(uint64_t offset, uint64_t size, bool backed) {
  const auto first = backed_.begin() + static_cast<ptrdiff_t>(offset / kChunk);
  std::fill(first, first + static_cast<ptrdiff_t>(size / kChunk), backed);
}

Result<> CpuBuffer::commit(uint64_t offset, uint64_t size) {
  TRY(check("commit", offset, size));
  const uint64_t fresh = count(offset, size, false);
  if (!account_.take(fresh))
    return fail(ErrorCode::OutOfMemory, "cannot back {} bytes: {} of the device's {} are in use", fresh,
                account_.used(), account_.limit());
  std::byte* begin = range_.data() + offset;
  if (mprotect(begin, size, PROT_READ | PROT_WRITE) != 0) {
    account_.give_back(fresh);
    return fail(ErrorCode::OutOfMemory, "cannot back {} bytes: {}", size, std::strerror(errno));
  }
#if defined(MADV_HUGEPAGE)
  if (size >= kHugePagesFrom) madvise(begin, size, MADV_HUGEPAGE);
#endif
  mark(offset, size, true);
  return {};
}

Result<> CpuBuffer::decommit(uint64_t offset, uint64_t size) {
  TRY(check("decommit", offset, size));
  if (shared_) {
    TRY(protect(offset, size, hal::Access::None));
    TRY(shared_->punch(offset, size));
  } else {
    TRY(clear(offset, size));
  }
  account_.give_back(count(offset, size, true));
  mark(offset, size, false);
  return {};
}

/// Mapping anew drops the contents everywhere; MADV_DONTNEED is advice only on some systems.
Result<> CpuBuffer::clear(uint64_t offset, uint64_t size) {
  void* again =
      mmap(range_.data() + offset, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (again == MAP_FAILED) return fail(ErrorCode::OperatingSystem, "cannot decommit: {}", std::strerror(errno));
  return {};
}

Result<> CpuBuffer::for_runs(bool backed, const std::function<Result<>(uint64_t offset, uint64_t size)>& visit) const {
  for (size_t begin = 0; begin < backed_.size();) {
    size_t end = begin;
    while (end < backed_.size() && backed_[end] == backed) ++end;
    if (end > begin) TRY(visit(begin * kChunk, (end - begin) * kChunk));
    begin = std::max(end, begin + 1);
  }
  return {};
}

/// Who writes while the contents are copied waits in MovingMemory's handler; who reads goes on.
Result<std::shared_ptr<hal::Memory>> CpuBuffer::share() {
  if (shared_) return shared_;
  TRY(auto memory, hal::MappedMemory::create(size(), true, [] {}));
  const MovingMemory move(range_.data(), size());
  const auto copy = [&](uint64_t offset, uint64_t bytes) -> Result<> {
    TRY(protect(offset, bytes, hal::Access::Read));
    return memory->write(range_.data() + offset, offset, bytes);
  };
  Result<> moved = for_runs(true, copy);
  if (moved) moved = memory->map(range_.data(), 0, size(), hal::Access::ReadWrite);
  if (!moved) {
    TRY(for_runs(true,
                 [&](uint64_t offset, uint64_t bytes) { return protect(offset, bytes, hal::Access::ReadWrite); }));
    return fail(moved.error());
  }
  shared_ = std::move(memory);
  TRY(for_runs(false, [&](uint64_t offset, uint64_t bytes) { return protect(offset, bytes, hal::Access::None); }));
  return shared_;
}

Result<> CpuBuffer::map(uint64_t offset, const hal::Memory& memory, uint64_t from, uint64_t size) {
  TRY(check("map", offset, size));
  return static_cast<const hal::MappedMemory&>(memory).map(range_.data() + offset, from, size, hal::Access::None);
}

Result<> CpuBuffer::unmap(uint64_t offset, uint64_t size) {
  TRY(check("unmap", offset, size));
  return clear(offset, size);
}

Result<> CpuBuffer::protect(uint64_t offset, uint64_t size, hal::Access access) {
  TRY(check("protect", offset, size));
  if (mprotect(range_.data() + offset, size, hal::protection(access)) == 0) return {};
  return fail(ErrorCode::OutOfMemory, "cannot change the access to {} bytes: {}", size, std::strerror(errno));
}

}  // namespace cupola::cpu
