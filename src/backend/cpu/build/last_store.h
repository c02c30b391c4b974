#pragma once

namespace llvm {
class StoreInst;
}

namespace cupola::cpu::build {

/// Whether a thread leaves memory alone behind the store, wherever it goes. CUDA orders what a thread wrote for others
/// by what it does afterwards (fences, barriers, atomics): nobody can tell when such a store is done, before the grid
/// is over.
bool is_last_access(const llvm::StoreInst& store);

}  // namespace cupola::cpu::build
