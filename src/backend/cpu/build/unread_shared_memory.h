#pragma once

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Removes stores to known places of shared memory that nothing in code of whole blocks reads: of a tree of sums, whose
/// loops are written out, all is in registers, and a store of 64 bytes takes Zen 4 two cycles. For the end.
void drop_unread_shared_stores(llvm::Function& code);

}  // namespace cupola::cpu::build
