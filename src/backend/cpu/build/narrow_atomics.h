#pragma once

namespace llvm {
class Module;
}

namespace cupola::cpu::build {

/// Makes atomic operations on half and bfloat, and on vectors of them, loops that compare and exchange integers. LLVM's
/// own loop holds the old value as a floating-point number: a signalling NaN becomes a quiet one on its way, never
/// equals what memory holds, and the loop never ends.
void expand_narrow_atomics(llvm::Module& module);

}  // namespace cupola::cpu::build
