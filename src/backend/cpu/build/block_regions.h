#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/ValueHandle.h>

#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class AllocaInst;
class BasicBlock;
class Instruction;
class TargetMachine;
}  // namespace llvm

// Code for a warp that stops at the barriers of its block, cut there: where all warps of a block take the same way from
// barrier to barrier, what lies between two of them is run for each warp in turn, and the way itself is gone once a
// block.

namespace cupola::cpu::build {

struct PlacedCode;

/// What lies between barriers, and is to be run for each warp.
struct BlockRegion {
  bool is_for_block = false;          ///< it does the same for all warps: once is enough
  llvm::BasicBlock* begin = nullptr;  ///< entered from elsewhere only
  llvm::BasicBlock* end = nullptr;    ///< goes on to what follows; the region is left nowhere else
  llvm::SmallVector<llvm::BasicBlock*, 8> blocks;
  llvm::Instruction* frame = nullptr;     ///< stands for where the warp keeps what it needs in other regions
  llvm::WeakTrackingVH acting = nullptr;  ///< acting_threads(); an argument that it is may be replaced
};

/// A warp's code in regions, cut where it stands. What lies in no region is the same for all of a block's warps: the
/// branches between regions and what barriers count.
struct BlockRegions {
  llvm::SmallVector<BlockRegion, 8> regions;
  llvm::BasicBlock* over = nullptr;                ///< returns
  llvm::SmallVector<llvm::AllocaInst*, 4> arrays;  ///< that one warp after the other uses
  uint64_t frame_bytes = 0;                        ///< of a warp; a multiple of FrameLayout::kAlignment
  bool beside = false;                             ///< what lies in no region is the same for blocks beside each other
};

/// Nothing where warps may take different ways to a barrier, or a warp would keep more than `most_bytes`: then the code
/// does what it did. Code without turn marks. `beside`: the warps are those of several blocks, beside each other in x.
std::optional<BlockRegions> cut_at_barriers(const PlacedCode& placed, uint64_t most_bytes, bool beside,
                                            llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
