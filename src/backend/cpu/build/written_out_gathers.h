#pragma once

namespace llvm {
class Function;
class Instruction;
class TargetMachine;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// Reads and writes what all lanes gather and scatter one by one on processors of which such an instruction is a
/// program of its own, during which they start nothing else: AMD's of Zen's line. 16 numbers of the first cache, whose
/// places lie in registers, take Zen 4 two thirds of its gather's time and three quarters of its scatter's. Places of
/// 32 bits are taken two at a time, numbers that were just computed out of memory. Under masks scatters stay, and
/// gathers where there are no registers for masks; and both where code only comes that looked for a row and found none.
/// A scatter to where only its numbers say fills several lines in turn, maybe (a sort's keys, by digit): where it
/// begins one, the next line is asked for. After make_addresses_beside_gathers.
void write_out_gathers(llvm::Function& function, const llvm::TargetMachine& machine);

/// Whether such a gather, in code for the machine, takes its places from a number as it is. Where that lies in memory
/// they are read there two at a time, without the units that take numbers out of a register.
bool is_number_of_written_out_gather(const llvm::Value& number, const llvm::TargetMachine& machine);

/// Whether all lanes write, each where its number says.
bool scatters_all_lanes(const llvm::Instruction& instruction);

}  // namespace cupola::cpu::build
