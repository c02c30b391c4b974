#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "image/kernel_image.h"

namespace cupola::image {

/// The code of an image, mapped into this process: [0, slots_offset) may be read and executed, the import slots behind
/// it only read. No page is ever writable and executable at once. Immutable; any thread. Must outlive every call into
/// it.
class LoadedSegment {
 public:
  /// Maps the segment and fills its import slots. Errors: OperatingSystem; NotSupported, naming the function, when this
  /// platform lacks a library call that the image imports.
  static Result<std::unique_ptr<LoadedSegment>> load(const KernelImage& image);
  ~LoadedSegment();
  LoadedSegment(const LoadedSegment&) = delete;
  LoadedSegment& operator=(const LoadedSegment&) = delete;

  const std::byte* base() const { return base_; }
  uint64_t size() const { return size_; }  ///< of the whole segment, in bytes

  /// The address of an offset of the manifest: a Kernel::entry, a DataRelocation's addend.
  const void* at(uint64_t offset) const { return base_ + offset; }

  /// "saxpy.cu:12": the source line of the instruction at an address of the code, or "" where it is not known.
  std::string source_at(uint64_t address) const;

 private:
  LoadedSegment(std::byte* base, uint64_t size, uint64_t code, LineTable lines);

  std::byte* const base_;
  const uint64_t size_, code_;
  const LineTable lines_;
};

/// The live segment whose code holds `program_counter`, or null. Takes no lock and is async-signal-safe. The answer
/// stays valid while the segment does; a thread that faulted inside it is proof of that.
const LoadedSegment* find_segment(uint64_t program_counter);

/// Writes an instance of the image's module data to `base`: image.data.size() bytes, aligned to image.data_alignment.
void initialise_data(std::byte* base, const KernelImage& image, const LoadedSegment& segment);

}  // namespace cupola::image
