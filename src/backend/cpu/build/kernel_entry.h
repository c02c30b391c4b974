#pragma once

#include <string>

#include "base/kernel_info.h"
#include "base/result.h"

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

struct KernelBody;

/// Fills in `info`'s parameters: each at the next multiple of its natural alignment, as CUDA lays out the parameter
/// block. Error: InvalidSource for a kernel that returns a value.
Result<> lay_out_parameters(const KernelBody& kernel, KernelInfo& info);

/// Makes the function that the run half calls, an image::cpu::KernelEntry with external linkage, of a body of the
/// kernel: for one thread or for more. A struct passed by value is copied, since a kernel may write its copy. The body
/// is inlined. Returns the entry's symbol.
std::string make_kernel_entry(llvm::Function& body);

}  // namespace cupola::cpu::build
