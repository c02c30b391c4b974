#pragma once

#include "base/kernel_info.h"

namespace llvm {
class Function;
}  // namespace llvm

namespace cupola::cpu::build {

/// Where threads beside each other in x write far apart, and those beside each other in y side by side (y[x * n + y], a
/// matrix that is transposed), a warp touches a line of the caches for each of its columns, and each of the block's
/// warps touches them all again; with a power of two between them they lie in one set of the first cache, and are gone
/// before the next warp comes. There thread (x, y) does the store of thread (y, x) once all of the block have come to
/// their end, with what that one left in shared memory: whole lines. For blocks of `shape`, which are square, and
/// stores that nothing which a thread does to memory follows: CUDA orders what other threads do by barriers alone, and
/// there is none behind. Kernels that have shared memory of their own, call others, or whose places or conditions of
/// the store take more than registers and arguments stay as they are. After prepare_for_lanes.
void turn_stores(llvm::Function& function, const Dim3& shape);

/// Whether the code leaves values in its block's shared memory of which the launch knows nothing.
bool has_turned_stores(const llvm::Function& code);

}  // namespace cupola::cpu::build
