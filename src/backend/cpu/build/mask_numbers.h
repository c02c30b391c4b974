#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Has masks in memory read and written as numbers: without registers for masks LLVM 22 takes a mask that it reads
/// apart, bit by bit, and a number of as many bits by a shuffle. For the end.
void move_masks_as_numbers(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
