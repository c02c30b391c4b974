#pragma once

namespace llvm {
class Instruction;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

class Lanes;

/// Whether what `user` is given can be computed for one lane after the other as cheaply as it is taken out of a vector:
/// it is made of what the lane reads in the same block. Vectors go through memory to lanes, which takes longer than
/// such a read, where `user` is done lane by lane.
bool can_remake(Lanes& lanes, llvm::Value* operand, const llvm::Instruction& user);

/// Code for what the lane of that number has. The lane runs the current block.
llvm::Value* remake(Lanes& lanes, llvm::Value* operand, llvm::Value* lane);

}  // namespace cupola::cpu::build
