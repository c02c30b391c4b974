#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include <cstddef>
#include <cstdint>

namespace llvm {
class CallInst;
class Function;
class Instruction;
class Module;
class TargetMachine;
}  // namespace llvm

// Code for a warp that stops at the barriers of its block and goes on when it is called again: a coroutine
// (llvm.coro.*, switched-resume lowering), whose frame says where it stopped.

namespace cupola::cpu::build {

/// Of 32 words of 8 bytes, the largest that a frame holds: LLVM counts on it.
inline constexpr uint64_t kFrameAlignment = 256;

/// A call that stops a warp until the block's others have come: the barrier of all threads.
bool is_block_barrier(const llvm::Instruction& instruction);
llvm::SmallVector<llvm::CallInst*, 8> block_barriers(llvm::Function& warp);

/// Moves the code into one that stops at its barriers, takes the frame's memory first and returns it.
llvm::Function* make_coroutine(llvm::Function& warp);

/// Splits what make_coroutine made.
void split_coroutines(llvm::Module& module, llvm::ArrayRef<llvm::Function*> coroutines, llvm::TargetMachine& machine);

/// What came of a coroutine. The first word of a frame is null once its warp is over.
struct CoroutineParts {
  llvm::Function* first = nullptr;   ///< (memory, arguments): to the first stop
  llvm::Function* second = nullptr;  ///< (memory): on to the next
  uint64_t frame_bytes = 0;          ///< a multiple of kFrameAlignment
};
CoroutineParts parts_of(llvm::Function& coroutine);

}  // namespace cupola::cpu::build
