#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kir/kir.h"

namespace cupola::cpu::build {

/// A kernel while it is built: its name for the program and its code, a function that takes the context first.
struct KernelBody {
  std::string name;
  llvm::Function* body;
  kir::LaunchBounds bounds;
};

/// Gives every defined function a leading `ptr` parameter, the ThreadContext, passes it on at every call, and gives all
/// functions the C calling convention, internal linkage and a name that no library function has. A pointer to a
/// function points at a FunctionDescriptor from here on: indirect calls load the entry from it. Returns the kernels in
/// module order. Errors: NotSupported for a variadic definition, inline assembly or an invoke.
Result<std::vector<KernelBody>> add_context_parameter(llvm::Module& module);

}  // namespace cupola::cpu::build
