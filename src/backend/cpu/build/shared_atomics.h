#pragma once

namespace llvm {
class Instruction;
class Module;
}  // namespace llvm

// The threads of a block run on one thread of the host, one after the other. So what they update in shared memory needs
// no instruction that other processors see as a whole.

namespace cupola::cpu::build {

/// Marks atomic updates of what lies in the shared window for certain. After lower_shared.
void mark_shared_atomics(llvm::Module& module);
/// Whether it is marked.
bool is_shared_atomic(const llvm::Instruction& instruction);

/// Makes loads and stores of the marked ones. After instrument_polling, which asks what is atomic.
void lower_shared_atomics(llvm::Module& module);

}  // namespace cupola::cpu::build
