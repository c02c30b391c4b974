#pragma once

namespace llvm {
class Module;
}

namespace cupola::metal::build {

/// Leaves no values of vector types where there is another way to say it: functions but kernels take and return
/// structures of the elements, memory is read and written element by element, and everything else is computed so. What
/// is left is what LLVM cannot scalarize, and atomic accesses of vectors: whoever prints them refuses them.
void take_vectors_apart(llvm::Module& module);

}  // namespace cupola::metal::build
