#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// Makes quotients and roots of rows of f32 that may be approximate (kir::may_approximate) short: the processor's
/// estimate and a step of Newton's method, which are less than its division (n-body takes 0.59 of its time). Wrong by
/// less than 2 units in the last place; zeros, infinities and NaN give what the exact operation gives. With AVX-512,
/// whose estimates have 14 bits; for other processors, and for what is no row, they stay exact. No flag that lets LLVM
/// approximate is left.
void approximate(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
