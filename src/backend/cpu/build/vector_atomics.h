#pragma once

namespace llvm {
class AtomicRMWInst;
}  // namespace llvm

namespace cupola::cpu::build {

class Lanes;

/// Whether updates of one place by all lanes may be one update: nothing keeps them apart but their order.
bool is_one_for_all(const llvm::AtomicRMWInst& update);

/// The update of one place by all lanes that run it, as one update: of what they add (or what else the operation makes
/// of them) together. What each lane found follows from what its lower lanes add. False, with nothing written: it has
/// to be done lane by lane.
bool widen_common_update(Lanes& lanes, llvm::AtomicRMWInst& update);

}  // namespace cupola::cpu::build
