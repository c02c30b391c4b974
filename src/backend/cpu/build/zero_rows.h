#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Hides that the zeros are zeros that come between the numbers of a row in another order (structures of which some
/// fields are zero): LLVM 22 takes some for extended numbers, where they are floats even if their bits are meant, for
/// which it has no instruction, and ends the process. With AVX-512. For the end: passes that simplify would undo it.
void hide_zeros_in_rows(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
