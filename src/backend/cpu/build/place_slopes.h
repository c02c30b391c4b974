#pragma once

#include <llvm/ADT/DenseMap.h>

#include <array>
#include <cstdint>
#include <optional>

#include "kir/intrinsics.h"

namespace llvm {
class Instruction;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// By how much a value is more for each threadIdx.x, y and z, but for multiples of what its type holds.
using Slope = std::array<int64_t, 3>;

inline bool is_flat(const Slope& slope) {
  return slope == Slope{};
}

/// What differs between a block's threads: of values that take nothing but the kernel's arguments, the launch's sizes
/// and places, and that may be computed where nobody asks for them.
class Slopes {
 public:
  /// Nothing: it is not known, or the value takes something else.
  std::optional<Slope> of(const llvm::Value* value);

 private:
  std::optional<Slope> find(const llvm::Value* value);
  static std::optional<Slope> of_register(kir::Intrinsic known);
  /// All its operands' slopes are known.
  std::optional<Slope> of_moving(const llvm::Instruction& instruction);

  llvm::DenseMap<const llvm::Value*, std::optional<Slope>> known_;
};

}  // namespace cupola::cpu::build
