#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Makes masked rows of less than 16 bytes rows of 16, whose mask says of all lanes whether they are there. LLVM 22
/// does so itself, but takes the move that clears the rest of a mask register for a mere copy: where registers are few
/// the mask comes back from memory with the bits of other lanes behind it, which are read and written then. With
/// AVX-512. For the end.
void widen_narrow_masks(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
