#pragma once

#include <string>
#include "kir/call_reach.h"

namespace llvm {
class Function;
class LoopInfo;
class PostDominatorTree;
}  // namespace llvm

namespace cupola::cpu::build {

class Departures;
class Shapes;

/// Whether lanes that run in step are right where they wait for each other; empty: they are, otherwise why not.
///
/// An operation of a warp or a block is done by the lanes that come to it together. Where all lanes that are left come,
/// that is all that CUDA asks. Under divergence it holds if the members are lanes that are there, if the missing ones
/// are on their way to the return (see Departures), or if there is no other place where they could do the same
/// operation: a program in which they are members nevertheless has no defined meaning. A loop that waits for another
/// thread must not be one that lanes leave one by one.
std::string convergence_obstacle(llvm::Function& function, const Shapes& shapes, const llvm::LoopInfo& loops,
                                 const llvm::PostDominatorTree& post_dominators, const Departures& departures,
                                 const kir::CallReach& reach);

}  // namespace cupola::cpu::build
