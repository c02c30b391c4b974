#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"

namespace llvm {
class Constant;
class DataLayout;
class GlobalValue;
}  // namespace llvm

namespace cupola::kir {

/// Called for each word that is an address: of `target` plus `addend` bytes; `offset` is where in the bytes it belongs.
using AddressWord = std::function<Result<>(uint64_t offset, const llvm::GlobalValue& target, int64_t addend)>;

/// Writes a variable's initial value as it lies in memory. `bytes` is zeroed and as large as the value's type. Errors:
/// NotSupported for a constant that is neither a plain value nor an address plus an offset.
Result<> render_initializer(const llvm::Constant& value, const llvm::DataLayout& layout, std::span<std::byte> bytes,
                            const AddressWord& address);

}  // namespace cupola::kir
