#pragma once

#include <vector>

#include "base/kernel_info.h"
#include "base/result.h"

namespace llvm {
class Function;
}

namespace cupola::metal::build {

/// Lets a kernel read its arguments from the launch's parameter block: a function without parameters is put in its
/// place. A struct passed by value is read where it lies, or copied if the kernel may write to it or keep its address.
/// `places`: of the arguments in the block. Returns the function. Error: NotSupported for a kernel that others call.
Result<llvm::Function*> read_parameters(llvm::Function& kernel, const std::vector<KernelInfo::Parameter>& places);

/// Callers of functions that take structs by value make the copies themselves.
void copy_arguments_by_value(llvm::Function& function);

}  // namespace cupola::metal::build
