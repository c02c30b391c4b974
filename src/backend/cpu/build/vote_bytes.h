#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Votes on several bits of the same byte of each lane's number by bytes: a register of 32 has all lanes of a warp,
/// and one instruction asks them (AVX-512) or makes a number of their answers (AVX2), where words are asked register by
/// register and their answers joined. After test_bits_in_place and look_up_in_tables, which take masks of bits.
void vote_by_bytes(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
