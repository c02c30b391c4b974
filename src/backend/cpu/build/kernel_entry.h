#pragma once

#include <string>

#include "base/kernel_info.h"
#include "base/result.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace cupola::cpu::build {

struct KernelBody;

/// Makes the function that the run half calls for one thread, an image::cpu::KernelEntry with external linkage, and
/// fills in `info`'s parameters: each at the next multiple of its natural alignment, as CUDA lays out the parameter
/// block. A struct passed by value is copied, since a kernel may write its copy. The body is inlined. Returns the
/// entry's symbol.
Result<std::string> make_kernel_entry(llvm::Module& module, const KernelBody& kernel, KernelInfo& info);

}  // namespace cupola::cpu::build
