#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hal/executable.h"
#include "image/cpu_abi.h"
#include "image/kernel_image.h"

namespace cupola::cpu {

class Watch;

/// Code of a kernel for some blocks, as the workers run it.
struct KernelCode {
  image::cpu::KernelEntry entry = nullptr;
  uint32_t width = 1;         ///< threads that it runs in step: 1 or a warp's
  bool needs_places = false;  ///< ThreadContext::places
  bool whole_block = false;   ///< one call runs all threads of a block
  image::Rung rung = image::Rung::ThreadFibres;
  bool polls = false;
  bool flush_denormals = false;
  uint32_t most_instructions = 0;  ///< as image::Kernel has it
  Watch* watch = nullptr;          ///< is told how long it runs, and knows what has taken its place
};

/// Code of the cpu device, from wherever it comes: a loaded image, or functions of the process (tests).
class CpuExecutable : public hal::Executable {
 public:
  std::span<const hal::KernelInfo> kernels() const final { return kernels_; }
  std::span<const hal::SymbolInfo> symbols() const final { return symbols_; }

  /// For blocks of this shape; null until prepare() has made it.
  virtual const KernelCode* code(uint32_t kernel, const Dim3& block) const = 0;
  std::byte* module_data() const { return module_data_; }

  /// The kernel whose descriptor lies at `address`; nothing where none does.
  std::optional<uint32_t> kernel_at(const void* address) const {
    const uint64_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(module_data_);
    image::cpu::KernelDescriptor descriptor;
    if (module_bytes_ < sizeof descriptor || offset > module_bytes_ - sizeof descriptor) return std::nullopt;
    std::memcpy(&descriptor, module_data_ + offset, sizeof descriptor);
    if (descriptor.mark != descriptor.kMark || descriptor.kernel >= kernels_.size()) return std::nullopt;
    return static_cast<uint32_t>(descriptor.kernel);
  }

 protected:
  void add_kernel(hal::KernelInfo info) { kernels_.push_back(std::move(info)); }
  void add_symbol(hal::SymbolInfo symbol) { symbols_.push_back(std::move(symbol)); }
  void set_module_data(std::byte* data, uint64_t bytes) {
    module_data_ = data;
    module_bytes_ = bytes;
  }

 private:
  std::vector<hal::KernelInfo> kernels_;
  std::vector<hal::SymbolInfo> symbols_;
  std::byte* module_data_ = nullptr;
  uint64_t module_bytes_ = 0;
};

}  // namespace cupola::cpu
