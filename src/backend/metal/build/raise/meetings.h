#pragma once

#include <cstdint>

#include "base/result.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace cupola::metal::build {

/// Functions that hold barriers, or may end the thread, become part of those that call them. Those with a metal.fail
/// stay, or programs with many calls through pointers would be all one function: behind it they return, and the thread
/// goes on to an end that nobody sees. Error: NotSupported for what cannot be inlined.
Result<> inline_what_needs_a_kernel(llvm::Module& module);

/// Kernels with barriers of a part of their block get shared memory for the counts. Of a module whose shared memory is
/// not laid out yet.
void count_at_numbered_barriers(llvm::Module& module);

/// What ends the thread (exit, trap, a failed assertion) becomes the kernel's return.
void end_by_return(llvm::Function& kernel);

/// Metal wants all threads of a threadgroup at a barrier; CUDA leaves out those that have returned, and lets threads
/// meet at different places. Where a kernel's branches that may part threads have barriers behind them before they come
/// together again, the kernel becomes a loop around the one barrier: each turn a thread runs to its next barrier, or
/// waits there for the others if it has returned. So does every kernel with grid-wide barriers or such of a part of the
/// block. Other kernels stay as they are. Of a kernel that has read its parameters. Returns how many bytes a thread
/// keeps from launch to launch; 0 without grid-wide barriers.
uint32_t make_threads_meet(llvm::Function& kernel);

}  // namespace cupola::metal::build
