#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Divisions and remainders of rows of 32-bit numbers by what is known when they run, `i / width` and `i % width`: no
/// processor has an instruction for several, and LLVM does a number after the other. Here doubles, of which a register
/// holds several, are multiplied by the divisor's inverse, which is exact enough for all numbers of 32 bits. Before
/// passes that move what is the same in all turns out of loops.
void divide_rows(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
