#pragma once

namespace llvm {
class TargetMachine;
}

namespace cupola::cpu::build {

/// Whether the processor has registers for masks (AVX-512): what it does under one takes no longer there. Others make
/// each mask a vector, and take many times as long to store under it: 12 cycles for 8 numbers on Zen 3.
bool has_mask_registers(const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
