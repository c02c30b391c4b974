#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Whether a thread that runs alone may do several turns of some loop of the function at once: none of those goes on
/// with a float, so that sums keep their order, and minima that of zeros.
bool may_take_turns_in_vectors(llvm::Function& alone);

/// Has it do so, in registers of the processor's, where LLVM's loop vectoriser finds that the turns do not need each
/// other and that it pays: sums of integers, rows that are made of rows.
void take_turns_in_vectors(llvm::Function& alone, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
