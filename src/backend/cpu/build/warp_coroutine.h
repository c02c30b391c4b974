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

/// Moves the code into one that stops at its barriers, and after some turns of loops that are marked (vector_turns.h);
/// it takes the frame's memory first and returns it.
llvm::Function* make_coroutine(llvm::Function& warp, llvm::TargetMachine& machine);

/// Splits what make_coroutine made in the module.
void split_coroutines(llvm::Module& module, llvm::TargetMachine& machine);

/// Where a warp stands that is not over, in the second word of its frame; only in code that has both kinds of stops.
enum class Stop : uint64_t { Barrier = 1, Turn = 2 };

/// What came of a coroutine. The first word of a frame is null once its warp is over.
struct CoroutineParts {
  llvm::Function* first = nullptr;   ///< (memory, arguments): to the first stop
  llvm::Function* second = nullptr;  ///< (memory): on to the next
  uint64_t frame_bytes = 0;          ///< a multiple of kFrameAlignment
};
CoroutineParts parts_of(llvm::Function& coroutine);

}  // namespace cupola::cpu::build
