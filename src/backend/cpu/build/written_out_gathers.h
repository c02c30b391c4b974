#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Reads and writes what all lanes gather and scatter one by one on processors of which such an instruction is a
/// program of its own, during which they start nothing else: AMD's of Zen's line. 16 numbers of the first cache, whose
/// places lie in registers, take Zen 4 two thirds of its gather's time and three quarters of its scatter's. Places of
/// 32 bits are taken two at a time. Under masks both stay, and where code only comes that looked for a row and found
/// none. After make_addresses_beside_gathers.
void write_out_gathers(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
