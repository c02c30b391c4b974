#pragma once

#include "backend/cpu/build/vector_prefetch.h"

namespace llvm {
class Function;
class LoopInfo;
}  // namespace llvm

// Blocks that go through a row each, as layers of neural networks do: the row lies in pieces of the block's width, a
// piece of 128 bytes for each turn of a warp, and the next row where no processor expects it. Each warp waits for
// memory then, the first turn of a loop most.

namespace cupola::cpu::build {

class Evolution;

/// In innermost loops whose turns lie beside each other, has what the next block reads or writes in the same turn
/// brought into the cache, if that lies some pages further on, and this call runs that block: a block's time is enough
/// for it to come. Of short blocks that is done for the one after the next. Only in the first of the loops that go
/// through a row. Where a block's threads meet, the same of what each reads once, outside of loops; for the next one,
/// however short, where a block reads `in_order` what lies beside each other. Returns the calls that do so.
Fetches fetch_for_next_block(llvm::Function& function, Evolution& evolution, llvm::LoopInfo& loops, bool in_order);

}  // namespace cupola::cpu::build
