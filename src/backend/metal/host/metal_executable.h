#pragma once

#include <memory>
#include <vector>

#include "backend/metal/host/pipeline_archive.h"
#include "hal/executable.h"
#include "image/metal_image.h"

namespace cupola::metal {

/// An image's source, compiled by Metal, or the compiled kernels of a container, and its module data in the arena.
/// Pipelines are made when they are first asked for.
class MetalExecutable final : public hal::Executable {
 public:
  /// Errors: those of Device::load; InvalidSource with the words of Metal's compiler.
  /// `code`: an image::MetalImage, or a .metallib with kImageNote.
  static Result<std::shared_ptr<hal::Executable>> load(const MetalServices& services, std::span<const std::byte> code);

  std::span<const hal::KernelInfo> kernels() const override { return kernels_; }
  std::span<const hal::SymbolInfo> symbols() const override { return symbols_; }

  /// Makes the pipeline. Errors: NotSupported for a kernel that Metal cannot have, saying why; LaunchOutOfResources for
  /// a block that is more than the kernel's code allows.
  Result<> prepare(uint32_t kernel, const hal::Dim3& block) override;
  bool has_code(uint32_t kernel) const override { return refusals_[kernel].empty(); }

  /// The MTLComputePipelineState of a kernel. Error: as prepare().
  Result<Id> pipeline(uint32_t kernel, uint64_t block_threads);

  /// Bytes that each of the kernel's threads keeps at grid-wide barriers; 0: it has none.
  uint64_t saved_bytes(uint32_t kernel) const { return saved_bytes_[kernel]; }

  /// The kernel's threads may write a FaultRecord.
  bool may_fail(uint32_t kernel) const { return may_fail_[kernel]; }

  const std::byte* data() const { return data_.address(); }

 private:
  struct Pipeline {
    Object state;
    uint64_t max_threads = 0;
  };
  MetalExecutable(const MetalServices& services, std::span<const std::byte> code, image::MetalImage image,
                  Object library, ArenaPart data);
  Result<Pipeline> make_pipeline(uint32_t kernel) REQUIRES(mutex_);

  const MetalServices services_;
  const Object library_;
  const ArenaPart data_;
  std::vector<hal::KernelInfo> kernels_;
  std::vector<std::string> entries_, refusals_;  ///< by kernel; one of the two is empty
  std::vector<uint64_t> saved_bytes_;            ///< by kernel
  std::vector<bool> may_fail_;                   ///< by kernel
  std::vector<hal::SymbolInfo> symbols_;
  Mutex mutex_;
  PipelineArchive archive_ GUARDED_BY(mutex_);
  std::vector<Pipeline> pipelines_ GUARDED_BY(mutex_);  ///< by kernel
};

}  // namespace cupola::metal
