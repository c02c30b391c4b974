#pragma once

#include <llvm/Support/Alignment.h>

namespace llvm {
class Instruction;
class LoadInst;
class StoreInst;
class Type;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

class Lanes;

/// The load for each lane: one wide load where lanes read places beside each other, otherwise a gather.
void widen_load(Lanes& lanes, llvm::LoadInst& load);
/// The load for each segment, whose lanes all read the same: a segment that does not run reads what another does.
void load_for_segments(Lanes& lanes, llvm::LoadInst& load);
/// The store for each lane that runs it. To one place: the last lane's value stays.
void widen_store(Lanes& lanes, llvm::StoreInst& store);
/// Whether gather() has instructions for values of the type.
bool can_gather(const Lanes& lanes, llvm::Type* type, llvm::Align alignment);
/// What lies at each lane's address, for the lanes that run the current block.
llvm::Value* gather(Lanes& lanes, llvm::Value* addresses, llvm::Type* type, llvm::Align alignment);
/// Runs the scalar instruction for one active lane after the other, in increasing order.
void widen_lane_by_lane(Lanes& lanes, llvm::Instruction& instruction);

}  // namespace cupola::cpu::build
