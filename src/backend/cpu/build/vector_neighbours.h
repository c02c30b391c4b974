#pragma once

#include "image/block_class.h"

namespace llvm {
class DominatorTree;
class Function;
class LoopInfo;
}  // namespace llvm

namespace cupola::cpu::build {

using image::BlockClass;
class Shapes;

/// Whether rows of memory that a block reads or writes go on in those of the next block in x: then blocks beside each
/// other go through longer rows together. Not where each block has a piece of memory of its own, or all have the same.
bool rows_go_on_beside(llvm::Function& function, BlockClass blocks, const Shapes& shapes, llvm::LoopInfo& loops,
                       llvm::DominatorTree& dominators);

}  // namespace cupola::cpu::build
