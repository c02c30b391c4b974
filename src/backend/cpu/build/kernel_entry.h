#pragma once

#include <string>

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Makes the function that the run half calls, an image::cpu::KernelEntry with external linkage, of a body of the
/// kernel: for one thread or for more. A struct passed by value is copied, since a kernel may write its copy. The body
/// is inlined. Returns the entry's symbol.
std::string make_kernel_entry(llvm::Function& body);

}  // namespace cupola::cpu::build
