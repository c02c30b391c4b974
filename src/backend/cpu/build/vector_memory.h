#pragma once

namespace llvm {
class Instruction;
class LoadInst;
class StoreInst;
}  // namespace llvm

namespace cupola::cpu::build {

class Lanes;

/// The load for each lane: one wide load where lanes read places beside each other, otherwise a gather.
void widen_load(Lanes& lanes, llvm::LoadInst& load);
/// The load for each segment, whose lanes all read the same: a segment that does not run reads what another does.
void load_for_segments(Lanes& lanes, llvm::LoadInst& load);
/// The store for each lane that runs it. To one place: the last lane's value stays.
void widen_store(Lanes& lanes, llvm::StoreInst& store);
/// Runs the scalar instruction for one active lane after the other, in increasing order.
void widen_lane_by_lane(Lanes& lanes, llvm::Instruction& instruction);

}  // namespace cupola::cpu::build
