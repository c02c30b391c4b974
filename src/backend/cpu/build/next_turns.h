#pragma once

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

struct PlacedCode;

/// Asks, in a warp's code, for the rows of memory that a turn of a loop with barriers reads in the next one. A block
/// that goes through memory in steps of a pitch (tiles of a matrix, planes of a volume) touches a few lines of each
/// page, too few for the processor to see where it goes; until the next turn all other warps run. Before
/// cut_at_barriers.
void prefetch_next_turns(const PlacedCode& placed);

}  // namespace cupola::cpu::build
