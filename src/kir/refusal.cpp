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
  if (const llvm::DebugLoc& location = instruction.getDebugLoc())
    place += formatted(" ({}:{})", location->getFilename().str(), location.getLine());
  return place;
}

}  // namespace cupola::kir
