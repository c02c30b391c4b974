#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hal/types.h"

namespace cupola::hal {

/// How a CodeSource is asked. Look: only for what need not be made, so that the answer comes soon.
enum class Ask : uint8_t { Make, Look };

/// Makes code that an image left for later: of a `unit` that it holds, the `code` that the back-end asks for by name;
/// the answer is an image again. May take long, and is null where `ask` is Look and there is none. Any thread.
using CodeSource = std::function<Result<std::shared_ptr<const std::vector<std::byte>>>(std::span<const std::byte> unit,
                                                                                       std::string_view code, Ask ask)>;

/// A kernel image loaded on a device: code, and one instance of its module data. Immutable but for what kernels write
/// to the data. Must outlive every launch that names it. Any thread.
class Executable {
 public:
  virtual ~Executable() = default;

  /// Kernels in the image's order; a Launch names one by its place here.
  virtual std::span<const KernelInfo> kernels() const = 0;
  virtual std::span<const SymbolInfo> symbols() const = 0;

  /// Makes what launches with blocks of this shape need and have not yet; the first such launch would do it, later and
  /// without a way to return errors. May compile. Errors: those of compiling and loading.
  virtual Result<> prepare(uint32_t /*kernel*/, const Dim3& /*block*/) { return {}; }

  /// The kernel has code for some blocks.
  virtual bool has_code(uint32_t /*kernel*/) const { return true; }

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
