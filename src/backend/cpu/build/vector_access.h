#pragma once

#include <llvm/ADT/DenseMap.h>

#include <cstdint>

namespace llvm {
class Instruction;
}  // namespace llvm

namespace cupola::cpu::build {

/// What code for a warp does in place of a load, a store or an update of memory.
enum class Access : uint8_t {
  Once,        ///< one place, for all lanes
  Together,    ///< one update of it, by what all lanes bring
  Segments,    ///< a place for each segment
  Row,         ///< places beside each other, of the warp or of each segment
  Structures,  ///< those of a Group
  FoundRuns,   ///< what the running code finds: a row, runs of one, or a gather or scatter
  Gather,      ///< or scatter
  LaneByLane,
};

/// By the thread's instruction. Of code that is written twice, for all lanes and for some of them: the latter.
using Accesses = llvm::DenseMap<const llvm::Instruction*, Access>;

}  // namespace cupola::cpu::build
