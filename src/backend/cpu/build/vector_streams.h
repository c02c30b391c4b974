#pragma once

#include "backend/cpu/build/vector_prefetch.h"

namespace llvm {
class Function;
class LoopInfo;
}  // namespace llvm

// Memory that blocks read from one end to the other, each where the block before it ended.

namespace cupola::cpu::build {

class Evolution;
class Shapes;
struct StreamHabits;

/// Has what such blocks read outside of loops brought into a cache ahead, as is the processor's habit. Processors see
/// such streams by themselves, but later, and how well depends on where their code lies. Where a block's threads meet
/// and its rows are narrow, into the second cache further ahead. Returns the calls that do so.
Fetches fetch_ahead_in_streams(llvm::Function& function, Evolution& evolution, const llvm::LoopInfo& loops,
                               const StreamHabits& habits);

/// Whether threads read, of an array, also what others beside them or in other rows read: not just one place or the
/// fields of one structure each.
bool reads_of_others(llvm::Function& function, Evolution& evolution, const Shapes& shapes);

}  // namespace cupola::cpu::build
