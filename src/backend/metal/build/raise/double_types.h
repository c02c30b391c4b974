#pragma once

namespace llvm {
class Module;
class Type;
}  // namespace llvm

namespace cupola::metal::build {

/// True for double and for types that hold one.
bool holds_double(const llvm::Type* type);

/// Makes 64-bit integers of all doubles of a module that only moves them (call_soft_operations): of instructions,
/// functions, variables and their initial values, local variables and address computations. Sizes, alignments and bits
/// stay.
void replace_double_types(llvm::Module& module);

}  // namespace cupola::metal::build
