#pragma once

#include <llvm/ADT/SmallVector.h>

namespace llvm {
class Function;
class LoopInfo;
}  // namespace llvm

namespace cupola::cpu::build {

class Evolution;

/// A thread writes on an output in many turns of loops, in each at another place.
struct OutputTurns {
  unsigned output;         ///< which of the kernel's arguments points at it
  llvm::Function* counts;  ///< takes what the kernel takes and returns, as 64 bits, in how many turns at most
};

/// Of the outputs whose turns can be told before the kernel begins: from its arguments and the launch's sizes, for the
/// first thread of the grid. The functions are new ones of the kernel's module.
llvm::SmallVector<OutputTurns, 2> turns_of_outputs(Evolution& evolution, const llvm::LoopInfo& loops);

}  // namespace cupola::cpu::build
