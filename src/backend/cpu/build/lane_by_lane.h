#pragma once

namespace llvm {
class Instruction;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// Of a vector; of another value 0.
unsigned lanes_of(const llvm::Value& value);

/// Whether it only computes, a lane of a vector of the same lane of each operand: vectors of as many lanes.
bool is_lane_by_lane(const llvm::Instruction& instruction);

}  // namespace cupola::cpu::build
