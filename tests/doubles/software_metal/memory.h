#pragma once

#include <mutex>

#include "doubles/software_metal/object.h"

namespace cupola::software_metal {

/// A MTLBuffer over memory of the program: the same pages once more, at another address, which is the GPU's. There they
/// can be touched only while a command buffer that made them resident runs.
struct Buffer final : Object {
  /// Refuses what Metal does not take.
  Buffer(void* bytes, size_t size);
  const Class& isa() const override;
  void dispose() override;

  /// Counts the command buffers that use it.
  void make_resident();
  void end_residency();

  std::byte* const host;
  const size_t length;
  std::byte* const gpu;

 private:
  std::mutex mutex_;
  int users_ = 0;
};

inline constexpr size_t kPageBytes = 16384;  ///< of Apple Silicon

}  // namespace cupola::software_metal
