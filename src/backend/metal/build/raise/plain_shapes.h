#pragma once

#include "base/result.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace cupola::metal::build {

/// Writes a module in fewer words before its pointers get their spaces: no switches, memory intrinsics, three-way
/// comparisons, hints or irreducible loops.
Result<> make_plain(llvm::Module& module);

/// Tidies up what raising left behind, and gives loops the form that structuring wants: one entry, exits of their own,
/// and values that leave through phis.
void tidy_for_structure(llvm::Function& function);

}  // namespace cupola::metal::build
