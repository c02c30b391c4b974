#pragma once

#include <optional>

namespace llvm {
class Function;
class TargetMachine;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// A bit of each lane of a row of numbers.
struct LaneBit {
  llvm::Value* row;
  unsigned number;
};

/// The bit that `numbers` tell of: 0 in the lanes where it is set, all ones in the others.
std::optional<LaneBit> bit_missing_from(llvm::Value* numbers);
/// The bit that is set in the lanes of `mask`.
std::optional<LaneBit> bit_set_in(llvm::Value* mask);
/// The highest bit that a lane's number may have, if it is clear in the lanes of `mask`.
std::optional<LaneBit> bit_clear_in(llvm::Value* mask);

/// Makes masks of a bit of each lane (`digit >> bit & 1`) of the bit where it stands, one instruction where registers
/// hold masks; LLVM moves it to the top first, and computes anew from the number what the mask says. With AVX-512. For
/// the end: passes that simplify would undo it.
void test_bits_in_place(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
