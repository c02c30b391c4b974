#pragma once

#include <memory>
#include <vector>

#include "backend/metal/host/arena.h"
#include "backend/metal/host/metal_state.h"
#include "hal/buffer.h"

namespace cupola::metal {

/// Chunks of the arena. What is not committed counts as no memory in use, but can be touched: the arena is one mapping.
class MetalBuffer final : public hal::Buffer {
 public:
  static constexpr uint64_t kChunkBytes = Arena::kAlignment;

  static Result<std::unique_ptr<hal::Buffer>> reserve(MetalState& state, Arena& arena, uint64_t size);
  MetalBuffer(MetalState& state, Arena& arena, ArenaPart part)
      : state_(state), arena_(arena), part_(std::move(part)), backed_(part_.size() / kChunkBytes) {}
  ~MetalBuffer() override;

  hal::Address address() const override { return reinterpret_cast<hal::Address>(part_.address()); }
  uint64_t size() const override { return part_.size(); }
  Result<> commit(uint64_t offset, uint64_t size) override;
  Result<> decommit(uint64_t offset, uint64_t size) override;

 private:
  Result<> check(uint64_t offset, uint64_t size) const;
  /// Bytes of the range that are backed.
  uint64_t backed_bytes(uint64_t offset, uint64_t size) const;
  void mark(uint64_t offset, uint64_t size, bool backed);

  MetalState& state_;
  Arena& arena_;
  const ArenaPart part_;
  std::vector<bool> backed_;  ///< by chunk
};

}  // namespace cupola::metal
