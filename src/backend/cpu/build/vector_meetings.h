#pragma once

namespace llvm {
class CallInst;
}

namespace cupola::cpu::build {

class Lanes;

/// Writes an operation by which threads of a warp or a block meet (kir's kSync) for the lanes that run it: those of
/// warps in place, those of blocks and grids as one call of the service for all. False: it is none of these. What
/// convergence_obstacle refuses must not come here.
bool widen_meeting(Lanes& lanes, llvm::CallInst& call);

}  // namespace cupola::cpu::build
