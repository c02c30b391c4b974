#pragma once

#include <llvm/IR/LLVMContext.h>

#include <string>

namespace cupola::kir {

/// Keeps LLVM's diagnostics in the context from standard error and from exit(1), which is what a context without a
/// handler does. Returns the first error's text, empty until there is one; it lives until the context gets another
/// handler, so a further call ends it.
const std::string& collect_diagnostics(llvm::LLVMContext& context);

}  // namespace cupola::kir
