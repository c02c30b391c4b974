#pragma once

#include <llvm/IR/PassManager.h>

namespace llvm {
class Function;
class TargetTransformInfo;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// Notes of a phi that each of the ways to it has read the same places; of other values nothing.
void note_ways_of_one_read(llvm::Value& row);

/// Gathers of a loop in which each lane reads on by one number a turn, as where threads have a row of a matrix each
/// (`for (j = 0; j < m; ++j) sum += a[row * m + j]`), take a strip of each lane's numbers at a time, as long as there
/// are so many turns: a register of each lane's, of which rows are made by shuffles, for the turns to come. Innermost
/// loops that write nothing and are left after a number of turns that is known ahead; gathers of numbers of 32 or 64
/// bits, of all lanes where that is to be seen, by a mask that does not change otherwise. None if there are more than
/// `most`: a strip is some 300 instructions, which take ten milliseconds to compile.
void take_strips(llvm::Function& function, llvm::FunctionAnalysisManager& analyses,
                 const llvm::TargetTransformInfo& target, size_t most);

}  // namespace cupola::cpu::build
