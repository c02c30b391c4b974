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

/// A kernel as the workers run it.
struct KernelCode {
  /// Code for more than a thread, see image::WideEntry; null: none.
  struct Wide {
    image::cpu::KernelEntry entry = nullptr;
    bool whole_block = false;
  };

  image::cpu::KernelEntry entry = nullptr;
  image::ByBlockClass<Wide> wide;
  image::Rung rung = image::Rung::ThreadFibres;
  bool polls = false;
  bool flush_denormals = false;

  /// What runs a block.
  struct Choice {
    image::cpu::KernelEntry entry;
    uint32_t width;     ///< threads in step
    bool needs_places;  ///< ThreadContext::places
    bool whole_block;   ///< one call runs all threads of a block
  };
  Choice choose(const Dim3& block) const {
    using enum image::BlockClass;
    const image::BlockClass blocks = image::class_of(block);
    if (const Wide& own = wide[blocks]; own.entry && block.count() > 1)
      return {own.entry, 32, blocks != Rows, own.whole_block};
    if (const Wide& any = wide[Any]; any.entry && block.count() > 1) return {any.entry, 32, true, any.whole_block};
    return {entry, 1, false, false};
  }
};

/// Code of the cpu device, from wherever it comes: a loaded image, or functions of the process (tests).
class CpuExecutable : public hal::Executable {
 public:
  std::span<const hal::KernelInfo> kernels() const final { return kernels_; }
  std::span<const hal::SymbolInfo> symbols() const final { return symbols_; }

  const KernelCode& code(uint32_t kernel) const { return code_[kernel]; }
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
  void add_kernel(hal::KernelInfo info, KernelCode code) {
    kernels_.push_back(std::move(info));
    code_.push_back(code);
  }
  void add_symbol(hal::SymbolInfo symbol) { symbols_.push_back(std::move(symbol)); }
  void set_module_data(std::byte* data, uint64_t bytes) {
    module_data_ = data;
    module_bytes_ = bytes;
  }

 private:
  std::vector<hal::KernelInfo> kernels_;
  std::vector<KernelCode> code_;
  std::vector<hal::SymbolInfo> symbols_;
  std::byte* module_data_ = nullptr;
  uint64_t module_bytes_ = 0;
};

}  // namespace cupola::cpu
