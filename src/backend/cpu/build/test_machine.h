#pragma once

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "backend/cpu/build/object_file.h"

namespace cupola::cpu::build::testing {

/// One of this machine's architecture, for tests of code that only some have.
inline std::unique_ptr<llvm::TargetMachine> machine_of(const std::string& processor) {
  const auto host = machine_for("cpu:x86_64:host");
  const llvm::Triple triple((*host)->getTargetTriple());
  std::string error;
  return std::unique_ptr<llvm::TargetMachine>(
      llvm::TargetRegistry::lookupTarget(triple, error)->createTargetMachine(triple, processor, "", {}, std::nullopt));
}

}  // namespace cupola::cpu::build::testing
