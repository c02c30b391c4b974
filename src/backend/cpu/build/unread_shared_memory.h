#pragma once

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Says of a function that it runs blocks from their beginning to their end: what they leave in shared memory nobody
/// sees.
void mark_whole_blocks(llvm::Function& code);
bool runs_whole_blocks(const llvm::Function& code);

/// Removes stores to known places of shared memory that nothing in such code reads: of a tree of sums, whose loops are
/// written out, all is in registers, and a store of 64 bytes takes Zen 4 two cycles. For the end.
void drop_unread_shared_stores(llvm::Function& code);

}  // namespace cupola::cpu::build
