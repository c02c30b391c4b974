#pragma once

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Makes the addresses of gathers and scatters beside them, of a base and numbers of 32 bits where they are made of
/// such: code generation looks no further than the block, and takes 64-bit addresses, two instructions for one, of what
/// it does not see through. For the end: passes that merge equal values would undo it.
void make_addresses_beside_gathers(llvm::Function& function);

}  // namespace cupola::cpu::build
