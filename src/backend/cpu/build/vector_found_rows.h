#pragma once

#include <optional>

namespace llvm {
class Type;
class Value;
}  // namespace llvm

// Rows that only the running code can know of: keys[2 * i - (i & (j - 1))] lies in a row as long as j is 32 or more.
// Looking takes a tenth of the time of the gather that it may save.

namespace cupola::cpu::build {

class Lanes;

/// If `is_row`, lanes' places for values of a type lie beside each other from `first` on.
struct FoundRow {
  llvm::Value *is_row, *first;
};

/// Looks at the addresses where they are varying and may turn out to be a row: numbers of 32 bits, made of the thread's
/// place and of what threads share, that count elements behind a place that threads share. Nothing: it does not.
std::optional<FoundRow> look_for_row(Lanes& lanes, llvm::Value* address, llvm::Type* type);

}  // namespace cupola::cpu::build
