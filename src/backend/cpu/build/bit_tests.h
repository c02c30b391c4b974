#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Makes masks of a bit of each lane (`digit >> bit & 1`) of the bit where it stands, one instruction where registers
/// hold masks; LLVM moves it to the top first, and computes anew from the number what the mask says. With AVX-512. For
/// the end: passes that simplify would undo it.
void test_bits_in_place(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
