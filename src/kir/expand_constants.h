#pragma once

namespace llvm {
class Module;
}

namespace cupola::kir {

/// Turns every constant expression that a function uses and that names a global into instructions, so that later passes
/// meet globals only as plain operands; and replaces aliases by what they stand for. Initialisers stay as they are.
void expand_constants(llvm::Module& module);

}  // namespace cupola::kir
