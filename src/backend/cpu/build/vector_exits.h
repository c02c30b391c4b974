#pragma once

#include <llvm/ADT/SmallPtrSet.h>

#include "image/block_class.h"

namespace llvm {
class BasicBlock;
class Function;
}  // namespace llvm

namespace cupola::cpu::build {

using image::BlockClass;

/// Blocks at whose end the lanes that run them leave the kernel, whatever their branch says.
using Exits = llvm::SmallPtrSet<const llvm::BasicBlock*, 8>;

/// Rewrites branches on which some lanes go to the return while others go on, so that what follows is run by all lanes
/// that are left rather than under a branch: where the ways meet only at the return, one way becomes a detour that ends
/// in an exit and rejoins the other. Returns the exits.
Exits separate_exits(llvm::Function& function, BlockClass blocks);

}  // namespace cupola::cpu::build
