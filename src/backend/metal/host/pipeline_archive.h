#pragma once

#include <span>
#include <string>

#include "backend/metal/host/metal_services.h"

namespace cupola::metal {

/// The pipelines of one executable, as the GPU runs them, kept on disk from process to process: a MTLBinaryArchive. It
/// only saves time: one that is damaged, or that Metal does not take since the system or the GPU is another, is dropped
/// and made anew, and without a cache folder there is none. One thread at a time.
class PipelineArchive {
 public:
  /// `code`: what the executable's library was made of.
  PipelineArchive(const MetalServices& services, std::span<const std::byte> code);
  /// Keeps what was added.
  ~PipelineArchive();
  PipelineArchive(const PipelineArchive&) = delete;
  PipelineArchive& operator=(const PipelineArchive&) = delete;

  /// The MTLComputePipelineState of a MTLFunction: the archive's, or a new one, which is added. None, and *error
  /// (autoreleased), when Metal makes none.
  Object pipeline(Id function, Id* error);

 private:
  Object opened(Id url) const;
  Object made(Id descriptor, Unsigned options, Id* error) const;
  void add(Id descriptor);
  void keep();

  const MetalServices services_;
  const std::string key_;
  Object archive_;
  uint32_t added_ = 0, kept_ = 0;  ///< pipelines, in this process
};

}  // namespace cupola::metal
