#pragma once

namespace llvm {
class Instruction;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

class Departures;
class Groups;
class Lanes;

/// Writes an instruction for the lanes that run the current block, unless it is a phi, an alloca or the block's end:
/// once, for each segment, for all lanes at once or for one after the other, whichever its shape asks for.
void widen_instruction(Lanes& lanes, const Groups& groups, const Departures& departures,
                       llvm::Instruction& instruction);
/// The operation on the vectors of its operands.
llvm::Value* elementwise(Lanes& lanes, llvm::Instruction& instruction);

}  // namespace cupola::cpu::build
