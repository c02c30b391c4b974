#pragma once

namespace llvm {
class Function;
class Loop;
class TargetTransformInfo;
}  // namespace llvm

namespace cupola::cpu::build {

/// Registers for what the loop keeps from turn to turn, and how many there are.
struct CarriedRegisters {
  unsigned needed, there_are;
};
CarriedRegisters registers_for_turns(const llvm::Loop& loop, const llvm::TargetTransformInfo& target);

/// Loops whose values need more registers than there are, as hashes' rounds do, run for a register's width of lanes
/// after another, in a loop around them: so the values stay in registers from turn to turn. Innermost loops whose lanes
/// know nothing of each other, go the same way, and write no memory. For the end, when it shows what a loop keeps.
void narrow_crowded_loops(llvm::Function& function, const llvm::TargetTransformInfo& target);

}  // namespace cupola::cpu::build
