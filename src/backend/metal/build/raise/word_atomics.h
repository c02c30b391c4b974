#pragma once

namespace llvm {
class Module;
}

namespace cupola::metal::build {

/// Writes atomic operations of up to 32 bits that Metal lacks as loops around a compare-and-swap of a word, which it
/// has: sums, minima and maxima of floats, counters that wrap and their kin, and all that is done to 8 and 16 bits.
/// Those of 64 bits stay.
void write_out_atomics(llvm::Module& module);

}  // namespace cupola::metal::build
