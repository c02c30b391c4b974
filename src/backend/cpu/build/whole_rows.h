#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace cupola::cpu::build {

/// Asks of the last lane alone whether all are below a bound (`if (i < n)`), before the code that asks each of them:
/// rows are whole nearly always. What only the others need is made behind that. For the end.
void ask_for_whole_rows(llvm::Function& function);

}  // namespace cupola::cpu::build
