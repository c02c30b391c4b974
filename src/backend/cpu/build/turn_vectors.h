#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Has a thread that runs alone do several turns of a loop at once, in registers of the processor's, where LLVM's loop
/// vectoriser finds that they do not need each other and that it pays: sums of integers, rows that are made of rows.
/// Sums of floats keep their order.
void take_turns_in_vectors(llvm::Function& alone, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
