#pragma once

#include <optional>

#include "kir/intrinsics.h"

namespace llvm {
class CallInst;
class Instruction;
}  // namespace llvm

namespace cupola::cpu::build {

class Departures;
class Lanes;

/// The operation of a warp, a block or the grid by which threads may wait for each other; nothing for other
/// instructions.
std::optional<kir::Intrinsic> meeting_of(const llvm::Instruction& instruction);
/// Whether the operation's first operand says which lanes take part.
bool names_members(kir::Intrinsic meeting);
/// Whether it waits for lanes of a warp: those that it names, or all.
bool is_of_warp(kir::Intrinsic meeting);

/// Writes an operation by which threads of a warp or a block meet (kir's kSync) for the lanes that run it: those of
/// warps in place, those of blocks and grids as one call of the service for all. False: it is none of these. What
/// convergence_obstacle refuses must not come here.
bool widen_meeting(Lanes& lanes, const Departures& departures, llvm::CallInst& call);

}  // namespace cupola::cpu::build
