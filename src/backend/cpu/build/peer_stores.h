#pragma once

#include "backend/cpu/build/vector_shape.h"

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Where a warp's lanes learn by votes on a number's bits, or by `__match_any_sync`, which of them have the same number
/// (their peers), and the first of these stores for all (`if ((peers & lanes_below) == 0) counts[digit] =
/// __popc(peers)`), all of them store: the same, at the same place, which no other number has. So the store needs no
/// mask, nor is it known only after the votes where it goes. For full warps, where no lane has left the kernel: before
/// separate_exits. Whether there was such a store.
bool store_with_peers(llvm::Function& function, BlockClass blocks);

}  // namespace cupola::cpu::build
