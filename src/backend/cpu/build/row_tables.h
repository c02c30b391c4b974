#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Looks up what lanes have of numbers that all know and of bits of their own: `peers &= bit ? vote : ~vote` for each
/// bit of a digit, as sorts find the lanes of the same digit, has one of 16 values for 4 bits. Those are computed for
/// all values at once, a register of them, and each lane takes the one of its bits. For rows of 32-bit numbers, with
/// AVX2 or AVX-512, which take words from any place of a register. Before test_bits_in_place.
void look_up_in_tables(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
