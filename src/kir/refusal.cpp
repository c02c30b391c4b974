#include "kir/refusal.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

#include "kir/c_functions.h"
#include "kir/kir.h"

namespace cupola::kir {

std::string demangled(llvm::StringRef name) {
  return llvm::demangle(name.str());
}

std::string place_of(const llvm::Instruction& instruction) {
  const llvm::Function& function = *instruction.getFunction();
  std::string place = formatted("{} '{}'", is_kernel(function) ? "kernel" : "function", demangled(own_name(function)));
  const llvm::DILocation* const inner = instruction.getDebugLoc().get();
  if (!inner) return place;
  const llvm::DILocation* outer = inner;
  while (outer->getInlinedAt()) outer = outer->getInlinedAt();
  place += formatted(" ({}:{}", outer->getFilename().str(), outer->getLine());
  if (outer != inner) place += formatted(", in {}:{}", inner->getFilename().str(), inner->getLine());
  return place + ")";
}

}  // namespace cupola::kir
