#pragma once

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace cupola::cpu::build {

/// Notes of a load or store that it is of `count` lanes of the warp from `first` on.
void note_lanes(llvm::Instruction& access, unsigned first, unsigned count);

/// Where a warp reads structures and then writes some, a register's lanes do both before the next ones begin, which
/// arithmetic of all lanes is taken apart for: four lines of memory are read and four written, not eight. What is noted
/// with lanes may change its place with that of other lanes, no more. After widen().
void take_structures_in_turn(llvm::Function& code);

}  // namespace cupola::cpu::build
