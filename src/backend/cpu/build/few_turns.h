#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace cupola::cpu::build {

/// Writes out innermost loops that each thread goes through a few times at most, and not all as often, as those over a
/// tile and what lies around it (`for (x = threadIdx.x; x < 18; x += 16)`): what lanes ask before each turn is known
/// then, as a mask that does not change, or not asked at all. For a prepared kernel whose block's shape is known, with
/// what registers of the thread may be (as ranges). True: it is to be prepared once more, and loops around those may be
/// such ones then.
bool write_out_few_turns(llvm::Function& function);

}  // namespace cupola::cpu::build
