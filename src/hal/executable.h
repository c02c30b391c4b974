#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "hal/types.h"

namespace cupola::hal {

/// A kernel image loaded on a device: code, and one instance of its module data. Immutable but for what kernels write
/// to the data. Must outlive every launch that names it. Any thread.
class Executable {
 public:
  virtual ~Executable() = default;

  /// Kernels in the image's order; a Launch names one by its place here.
  virtual std::span<const KernelInfo> kernels() const = 0;
  virtual std::span<const SymbolInfo> symbols() const = 0;

  std::optional<uint32_t> find_kernel(std::string_view name) const {
    auto all = kernels();
    for (uint32_t i = 0; i < all.size(); ++i)
      if (all[i].name == name) return i;
    return std::nullopt;
  }
  const SymbolInfo* find_symbol(std::string_view name) const {
    for (const SymbolInfo& symbol : symbols())
      if (symbol.name == name) return &symbol;
    return nullptr;
  }
};

}  // namespace cupola::hal
