#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace cupola::cpu::build {

/// Of shifts whose distance is the same for all lanes, or in all turns of a loop: `distance < 32 ? x >> distance : 0`
/// is asked once, and becomes bits that are left, instead of a choice for each number. Before passes that move what is
/// the same in all turns out of loops.
void shift_by_known_distances(llvm::Function& function);

}  // namespace cupola::cpu::build
