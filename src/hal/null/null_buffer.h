#pragma once

#include <memory>
#include <vector>

#include "hal/buffer.h"
#include "hal/host_state.h"

namespace cupola::hal {

/// Addresses from mmap. Without backing they are mapped without any right, so that a stray access faults.
class NullBuffer final : public Buffer {
 public:
  static constexpr uint64_t kChunkBytes = 2 * 1024 * 1024;

  static Result<std::unique_ptr<Buffer>> reserve(HostState& state, uint64_t size);
  NullBuffer(HostState& state, std::byte* base, uint64_t size)
      : state_(state), base_(base), size_(size), backed_(size / kChunkBytes) {}
  ~NullBuffer() override;

  Address address() const override { return reinterpret_cast<Address>(base_); }
  uint64_t size() const override { return size_; }
  Result<> commit(uint64_t offset, uint64_t size) override;
  Result<> decommit(uint64_t offset, uint64_t size) override;

 private:
  Result<> change(uint64_t offset, uint64_t size, bool backed);
  Result<> map_chunk(size_t chunk, bool backed);

  HostState& state_;
  std::byte* const base_;
  const uint64_t size_;
  std::vector<bool> backed_;  ///< by chunk
};

}  // namespace cupola::hal
