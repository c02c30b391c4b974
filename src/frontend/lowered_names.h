#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::frontend {

/// Text to come after the program's last line: a variable for each expression, which points to what it names, so that
/// templates are instantiated. "NVRTC, Accessing Lowered Names": an expression may begin with '&'.
std::string naming_text(const std::vector<std::string>& expressions);

/// The symbols that those variables point to; takes the variables out, and makes what they name visible from outside.
/// Error: InvalidValue for an expression whose value is not known at compile time.
Result<std::vector<std::string>> take_lowered_names(llvm::Module& module, const std::vector<std::string>& expressions);

/// Static variables of no namespace have their plain names, under which the host finds and writes them: so NVRTC does,
/// and cuModuleGetGlobal after it (seen on an H100, CUDA 13.0).
void name_static_variables(llvm::Module& module);

}  // namespace cupola::frontend
