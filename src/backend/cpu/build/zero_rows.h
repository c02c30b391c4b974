#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Hides that the zeros are zeros that come between floats in an order of a row (structures of which some fields are
/// zero): LLVM 22 makes extended numbers of some of them, for which it has no instruction, and ends the process. With
/// AVX-512. For the end: passes that simplify would undo it.
void hide_zeros_between_floats(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
