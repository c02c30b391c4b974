#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Has masks in memory read and written as numbers, and made of numbers by a shuffle: without registers for masks LLVM
/// 22 takes them apart, bit by bit. For the end.
void move_masks_as_numbers(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
