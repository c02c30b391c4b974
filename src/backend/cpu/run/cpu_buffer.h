#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "backend/cpu/run/aligned_mapping.h"
#include "hal/buffer.h"
#include "hal/mapped_memory.h"

namespace cupola::cpu {

/// Bytes of the device's memory that are backed. Any thread.
class MemoryAccount {
 public:
  explicit MemoryAccount(uint64_t limit) : limit_(limit) {}

  bool take(uint64_t bytes);
  void give_back(uint64_t bytes) { used_.fetch_sub(bytes); }
  uint64_t used() const { return used_.load(); }
  uint64_t limit() const { return limit_; }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_{0};
};

/// Inaccessible until committed, chunk by chunk; so a kernel that touches what is not backed faults.
class CpuBuffer final : public hal::Buffer {
 public:
  static constexpr uint64_t kChunk = 2 << 20;

  static Result<std::unique_ptr<CpuBuffer>> reserve(uint64_t size, MemoryAccount& account);
  ~CpuBuffer() override;

  hal::Address address() const override { return reinterpret_cast<hal::Address>(range_.data()); }
  uint64_t size() const override { return range_.size(); }
  Result<> commit(uint64_t offset, uint64_t size) override;
  Result<> decommit(uint64_t offset, uint64_t size) override;
  Result<std::shared_ptr<hal::Memory>> share() override;
  Result<> map(uint64_t offset, const hal::Memory& memory, uint64_t from, uint64_t size) override;
  Result<> unmap(uint64_t offset, uint64_t size) override;
  Result<> protect(uint64_t offset, uint64_t size, hal::Access access) override;

 private:
  CpuBuffer(AlignedMapping range, MemoryAccount& account);
  Result<> check(const char* what, uint64_t offset, uint64_t size) const;
  uint64_t count(uint64_t offset, uint64_t size, bool backed) const;
  void mark(uint64_t offset, uint64_t size, bool backed);
  Result<> clear(uint64_t offset, uint64_t size);
  Result<> for_runs(bool backed, const std::function<Result<>(uint64_t offset, uint64_t size)>& visit) const;

  AlignedMapping range_;
  MemoryAccount& account_;
  std::vector<bool> backed_;                   ///< by chunk
  std::shared_ptr<hal::MappedMemory> shared_;  ///< of share()
};

}  // namespace cupola::cpu
