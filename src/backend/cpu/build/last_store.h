#pragma once

namespace llvm {
class StoreInst;
}

namespace cupola::cpu::build {

/// Whether a thread leaves memory alone behind the store, wherever it goes. CUDA orders what a thread wrote for others
/// by what it does afterwards (fences, barriers, atomics): nobody may rely on when such a store is done, before the
/// grid is over. It may be done later in code of blocks: what is done to its place before is done by then, and kernels
/// that wait for other blocks have no such code.
bool is_last_access(const llvm::StoreInst& store);

}  // namespace cupola::cpu::build
