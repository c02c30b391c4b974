#pragma once

#include <cstdint>

namespace llvm {
class CallInst;
class Function;
}  // namespace llvm

namespace cupola::metal::build {

/// The metal.begin_barriers of a kernel, which names the shared memory for the counts of its numbered barriers; null
/// where it has none.
llvm::CallInst* begin_barriers_of(llvm::Function& kernel);

/// The kernel as a loop around one barrier. A block whose threads have all come to a grid-wide barrier, or returned,
/// keeps its variables and returns; its next launch begins there. In a kernel with numbered barriers a thread goes on
/// behind a meeting if the one that it waits at is complete, and comes to the next meeting if not. Returns how many
/// bytes a thread keeps from launch to launch.
uint32_t make_meeting_loop(llvm::Function& kernel);

}  // namespace cupola::metal::build
